import { randomBytes } from 'node:crypto';
import type { Argon2Cost } from '../../config/env.js';

/** RFC 9106 section 3.1 */
const MIN_KIB_PER_LANE = 8;

/** more than the strongest hash takes, as a factor */
const MAX_MEMORY_FACTOR = 1.25;

/**
 * What a failed login costs, whomever it names, so that its time does not tell who has an account: the work of the
 * strongest hash that this process has met, at least that of the configuration. Work is memory times passes, to
 * which the time of both engines is proportional.
 */
export class FailedLoginCost {
  /** stands for the hash of an e-mail that nobody has; no password makes it */
  dummyHash: string;

  constructor(private strongest: Argon2Cost) {
    this.dummyHash = aHashOfNothing(strongest);
  }

  /**
   * Notes the cost of a stored hash: where the configured cost was lowered, there are stronger ones.
   *
   * @param stored undefined: the hash is damaged
   */
  meet(stored: Argon2Cost | undefined): void {
    if (stored === undefined || workOf(stored) <= workOf(this.strongest)) return;
    this.strongest = stored;
    this.dummyHash = aHashOfNothing(stored);
  }

  /**
   * The cost of a hash that does the work which a verification lacked. Little memory is faster than its share of
   * the work, so it takes about as much as the strongest.
   *
   * @param verified undefined: the hash is damaged, so nothing was computed
   */
  missing(verified: Argon2Cost | undefined): Argon2Cost | undefined {
    const { memoryKib, parallelism } = this.strongest;
    const work = workOf(this.strongest) - (verified === undefined ? 0 : workOf(verified));
    if (work < MIN_KIB_PER_LANE * parallelism) return undefined;
    const timeCost = Math.ceil(work / (memoryKib * MAX_MEMORY_FACTOR));
    return { memoryKib: Math.round(work / timeCost), timeCost, parallelism };
  }
}

function workOf({ memoryKib, timeCost }: Argon2Cost): number {
  return memoryKib * timeCost;
}

function aHashOfNothing({ memoryKib, timeCost, parallelism }: Argon2Cost): string {
  const [salt, hash] = [16, 32].map((bytes) => randomBytes(bytes).toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${memoryKib},t=${timeCost},p=${parallelism}$${salt}$${hash}`;
}
