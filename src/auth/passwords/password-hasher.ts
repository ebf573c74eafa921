import { Global, Inject, Injectable, Logger, Module } from '@nestjs/common';
import { type Argon2Cost, Env } from '../../config/env.js';
import { passwordHashes } from '../../telemetry/metrics/measurements.js';
import { BreachedPasswords } from './breached-passwords.js';
import {
  HASH_ENGINE,
  type HashEngine,
  loadHashEngine,
  readArgon2Cost,
  readBcryptCost,
} from './hash-engines.js';
import { type HashClient, HashQueue, hashSlots, lowerHashThreadPriority } from './hash-queue.js';
import { isPasswordText } from './password-policy.js';

const WAITING_PER_SLOT = 200;
const NO_PASSWORD = '';

/** OWASP calls these argon2id settings equally strong (Password Storage Cheat Sheet). */
const OWASP_ROWS: readonly Argon2Cost[] = [
  { memoryKib: 47_104, timeCost: 1, parallelism: 1 },
  { memoryKib: 19_456, timeCost: 2, parallelism: 1 },
  { memoryKib: 12_288, timeCost: 3, parallelism: 1 },
  { memoryKib: 9216, timeCost: 4, parallelism: 1 },
  { memoryKib: 7168, timeCost: 5, parallelism: 1 },
];

const MIN_KIB_PER_LANE = 8;
const MAX_MEMORY_FACTOR = 1.25;

export interface Verification {
  matches: boolean;
  /** a new hash if the stored one matched and is bcrypt or weaker than the configured cost */
  replacement: string | undefined;
}

/** Takes normalized passwords. Rejects with `UnavailableError` when too many wait. */
@Injectable()
export class PasswordHasher {
  private readonly logger = new Logger(PasswordHasher.name);
  private readonly queue: HashQueue;
  private readonly cost: Argon2Cost;
  private strongest: Argon2Cost;
  private strongestBcrypt: number | undefined;

  constructor(
    env: Env,
    @Inject(HASH_ENGINE) private readonly engine: HashEngine,
  ) {
    this.cost = env.argon2;
    this.strongest = env.argon2;
    const { slots, current } = hashSlots(env);
    this.queue = new HashQueue(current, slots * WAITING_PER_SLOT);
    passwordHashes.read = () => this.queue.counts;
  }

  async start(): Promise<void> {
    // Starts the threads, and gives the queue its first duration.
    await this.hash(NO_PASSWORD, { key: 'start', hasLeft: () => false });
    lowerHashThreadPriority();
    const { memoryKib, timeCost, parallelism } = this.cost;
    this.logger.log(`argon2id by ${this.engine.name}, m=${memoryKib} KiB, t=${timeCost}, p=${parallelism}`);
    if (!OWASP_ROWS.some((row) => !isWeaker(this.cost, row))) {
      this.logger.warn('ARGON2_MEMORY_KIB and ARGON2_TIME are below every setting that OWASP recommends');
    }
  }

  hash(password: string, client: HashClient): Promise<string> {
    return this.queue.run(client, () => this.engine.hash(password, this.cost));
  }

  verify(storedHash: string | undefined, password: string, client: HashClient): Promise<Verification> {
    return this.queue.run(client, async () => {
      const stored = storedHash === undefined ? undefined : readArgon2Cost(storedHash);
      const bcryptCost = storedHash === undefined ? undefined : readBcryptCost(storedHash);
      this.observe(stored, bcryptCost);
      if (storedHash === undefined || !isPasswordText(password)) return this.fail();
      if (!(await this.engine.verify(storedHash, password))) return this.fail(stored, bcryptCost);

      const isOutdated = stored === undefined || isWeaker(stored, this.cost);
      const replacement = isOutdated ? await this.engine.hash(password, this.cost) : undefined;
      return { matches: true, replacement };
    });
  }

  /** A stored hash is stronger than the configured cost if the cost was lowered or another system made the hash. */
  private observe(stored: Argon2Cost | undefined, bcryptCost = 0): void {
    if (stored && workOf(stored) > workOf(this.strongest)) this.strongest = stored;
    if (bcryptCost > (this.strongestBcrypt ?? 0)) this.strongestBcrypt = bcryptCost;
  }

  /** A failure takes the time of the strongest hash, so that it does not reveal whether the account exists. */
  private async fail(verified?: Argon2Cost, bcryptCost?: number): Promise<Verification> {
    const missing = missingCost(this.strongest, verified);
    if (missing) await this.engine.hash(NO_PASSWORD, missing);
    for (const cost of missingBcryptCosts(this.strongestBcrypt, bcryptCost))
      await this.engine.verify(bcryptDummy(cost), NO_PASSWORD);
    return { matches: false, replacement: undefined };
  }
}

@Global()
@Module({
  providers: [BreachedPasswords, { provide: HASH_ENGINE, useFactory: loadHashEngine }, PasswordHasher],
  exports: [BreachedPasswords, PasswordHasher],
})
export class PasswordsModule {}

function isWeaker(cost: Argon2Cost, than: Argon2Cost): boolean {
  return (
    cost.memoryKib < than.memoryKib || cost.timeCost < than.timeCost || cost.parallelism < than.parallelism
  );
}

function workOf({ memoryKib, timeCost }: Argon2Cost): number {
  return memoryKib * timeCost;
}

/** Uses about the memory of the strongest hash, because less memory is faster. */
function missingCost(strongest: Argon2Cost, verified: Argon2Cost | undefined): Argon2Cost | undefined {
  if (verified === undefined) return strongest;
  const { memoryKib, parallelism } = strongest;
  const work = workOf(strongest) - workOf(verified);
  if (work < MIN_KIB_PER_LANE * parallelism) return undefined;
  const timeCost = Math.ceil(work / (memoryKib * MAX_MEMORY_FACTOR));
  return { memoryKib: Math.round(work / timeCost), timeCost, parallelism };
}

/** Rounds are powers of two: costs n, n + 1, … after a verified cost n add up to the strongest. */
function missingBcryptCosts(strongest: number | undefined, verified: number | undefined): number[] {
  if (strongest === undefined) return [];
  if (verified === undefined) return [strongest];
  return Array.from({ length: strongest - verified }, (_, index) => verified + index);
}

function bcryptDummy(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;
}
