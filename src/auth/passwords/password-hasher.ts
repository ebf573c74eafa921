import { Inject, Injectable, Logger } from '@nestjs/common';
import { type Argon2Cost, Env } from '../../config/env.js';
import { passwordHashes } from '../../telemetry/metrics/measurements.js';
import { decoyLike, Decoys } from './decoys.js';
import { HASH_ENGINE, type HashEngine, readArgon2Cost } from './hash-engines.js';
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

export interface Verification {
  matches: boolean;
  /** a new hash if the stored one matched and is of another family or weaker than the configured cost */
  replacement: string | undefined;
}

/** Takes normalized passwords. Rejects with `UnavailableError` when too many wait. */
@Injectable()
export class PasswordHasher {
  private readonly logger = new Logger(PasswordHasher.name);
  private readonly queue: HashQueue;
  private readonly cost: Argon2Cost;

  constructor(
    env: Env,
    @Inject(HASH_ENGINE) private readonly engine: HashEngine,
    private readonly decoys: Decoys,
  ) {
    this.cost = env.argon2;
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

  /** Verifies a decoy if there is no hash, or a damaged one: the time does not reveal whether the email has a user. */
  verify(
    { email, passwordHash = '' }: { email: string; passwordHash?: string },
    password: string,
    client: HashClient,
  ): Promise<Verification> {
    return this.queue.run(client, async () => {
      const decoy = this.decoys.find(email);
      const kind = decoyLike(passwordHash);
      if (kind !== undefined) this.decoys.note(kind);
      const isText = isPasswordText(password);
      const stored = kind === undefined ? decoy : passwordHash;
      const isRight = await this.engine.verify(stored, isText ? password : NO_PASSWORD);
      if (!isRight || !isText || kind === undefined) return { matches: false, replacement: undefined };

      const cost = readArgon2Cost(stored);
      const isOutdated = cost === undefined || isWeaker(cost, this.cost);
      const replacement = isOutdated ? await this.engine.hash(password, this.cost) : undefined;
      return { matches: true, replacement };
    });
  }
}

function isWeaker(cost: Argon2Cost, than: Argon2Cost): boolean {
  return (
    cost.memoryKib < than.memoryKib || cost.timeCost < than.timeCost || cost.parallelism < than.parallelism
  );
}
