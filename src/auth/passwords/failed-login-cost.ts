import { randomBytes, randomInt } from 'node:crypto';
import type { Argon2Cost } from '../../config/env.js';

/** RFC 9106 section 3.1 */
const MIN_KIB_PER_LANE = 8;

const MAX_MEMORY_FACTOR = 1.25;

/** Gives failed logins the work of the strongest hash seen, so that their time does not tell who has an account. */
export class FailedLoginCost {
  /** stands in for the hash of an unknown email; no password matches it */
  dummyHash: string;

  constructor(private strongest: Argon2Cost) {
    this.dummyHash = createArgon2Dummy(strongest);
  }

  /** Stored hashes are stronger where the configured cost was lowered. A damaged hash is undefined. */
  observe(stored: Argon2Cost | undefined): void {
    if (stored === undefined || workOf(stored) <= workOf(this.strongest)) return;
    this.strongest = stored;
    this.dummyHash = createArgon2Dummy(stored);
  }

  /** Adds what a verification lacked, at about the memory of the strongest hash: little memory is faster. */
  missing(verified: Argon2Cost | undefined): Argon2Cost | undefined {
    const { memoryKib, parallelism } = this.strongest;
    const work = workOf(this.strongest) - (verified === undefined ? 0 : workOf(verified));
    if (work < MIN_KIB_PER_LANE * parallelism) return undefined;
    const timeCost = Math.ceil(work / (memoryKib * MAX_MEMORY_FACTOR));
    return { memoryKib: Math.round(work / timeCost), timeCost, parallelism };
  }
}

/** The time of both engines is proportional to memory times passes. */
function workOf({ memoryKib, timeCost }: Argon2Cost): number {
  return memoryKib * timeCost;
}

function createArgon2Dummy({ memoryKib, timeCost, parallelism }: Argon2Cost): string {
  const [salt, hash] = [16, 32].map((bytes) => randomBytes(bytes).toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${memoryKib},t=${timeCost},p=${parallelism}$${salt}$${hash}`;
}

const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Like `FailedLoginCost`: after the first bcrypt hash it sees, every failed login costs the strongest one's rounds. */
export class FailedBcryptCost {
  private strongest: number | undefined;

  observe(cost: number | undefined): void {
    if (cost !== undefined && cost > (this.strongest ?? 0)) this.strongest = cost;
  }

  /** Rounds are powers of two: those of cost 4 are followed by 4, 5, … to make up 2^n. */
  missing(verified: number | undefined): string[] {
    if (this.strongest === undefined) return [];
    if (verified === undefined) return [createBcryptDummy(this.strongest)];
    const costs = Array.from({ length: this.strongest - verified }, (_, index) => verified + index);
    return costs.map(createBcryptDummy);
  }
}

function createBcryptDummy(cost: number): string {
  const random = (length: number): string =>
    Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `$2b$${String(cost).padStart(2, '0')}$${random(21)}.${random(30)}.`;
}
