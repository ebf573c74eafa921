import { randomBytes } from 'node:crypto';
import type { Argon2Cost } from '../../config/env.js';

/** RFC 9106 section 3.1 */
const MIN_KIB_PER_LANE = 8;

const MAX_MEMORY_FACTOR = 1.25;

/** Gives failed logins the work of the strongest hash seen, so that their time does not tell who has an account. */
export class FailedLoginCost {
  /** stands in for the hash of an unknown email; no password matches it */
  dummyHash: string;

  constructor(private strongest: Argon2Cost) {
    this.dummyHash = createDummyHash(strongest);
  }

  /** Stored hashes are stronger where the configured cost was lowered. A damaged hash is undefined. */
  observe(stored: Argon2Cost | undefined): void {
    if (stored === undefined || workOf(stored) <= workOf(this.strongest)) return;
    this.strongest = stored;
    this.dummyHash = createDummyHash(stored);
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

function createDummyHash({ memoryKib, timeCost, parallelism }: Argon2Cost): string {
  const [salt, hash] = [16, 32].map((bytes) => randomBytes(bytes).toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${memoryKib},t=${timeCost},p=${parallelism}$${salt}$${hash}`;
}
