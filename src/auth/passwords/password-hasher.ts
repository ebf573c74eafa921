import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { workersFor } from '../../config/concurrency.js';
import { type Argon2Cost, Env } from '../../config/env.js';
import { loadArgon2Engine, readArgon2Cost } from './argon2-engine.js';
import { EventLoopLoad } from './event-loop-load.js';
import { type HashClient, HashQueue } from './hash-queue.js';
import { putHashingLast } from './hash-threads.js';
import { isPasswordText } from './password-text.js';

/** The default size of libuv's thread pool: more hashes at once would only queue inside it, unseen. */
const THREAD_POOL_SIZE = 4;
const WAITING_PER_SLOT = 50;

/** OWASP Password Storage Cheat Sheet: the argon2id rows, each of the same strength. */
const OWASP_ROWS: readonly Argon2Cost[] = [
  { memoryKib: 47_104, timeCost: 1, parallelism: 1 },
  { memoryKib: 19_456, timeCost: 2, parallelism: 1 },
  { memoryKib: 12_288, timeCost: 3, parallelism: 1 },
  { memoryKib: 9216, timeCost: 4, parallelism: 1 },
  { memoryKib: 7168, timeCost: 5, parallelism: 1 },
];

/**
 * Hashes and verifies passwords with argon2id at the configured cost, a bounded number at a time; rejects
 * with `UnavailableError` when too many wait. Every password given is the result of `normalizePassword`.
 */
@Injectable()
export class PasswordHasher implements OnModuleInit {
  private readonly logger = new Logger(PasswordHasher.name);
  private readonly queue: HashQueue;
  private readonly cost: Argon2Cost;
  /** how every hash begins that is made at the configured cost */
  private readonly prefix: string;
  private dummyHash: string;

  constructor(env: Env) {
    this.cost = env.argon2;
    const { memoryKib, timeCost, parallelism } = this.cost;
    this.prefix = `$argon2id$v=19$m=${memoryKib},t=${timeCost},p=${parallelism}$`;
    // As many as there are cores for all processes together: more give no login and make other routes wait.
    const cores = Math.max(1, Math.floor(availableParallelism() / workersFor(env).workers));
    const slots = Math.min(cores, THREAD_POOL_SIZE);
    // A busy loop has a core for itself: another hash would get no more than the time that it takes from the loop.
    const slotsBesideBusyLoop = Math.max(1, Math.min(cores - 1, THREAD_POOL_SIZE));
    const loop = new EventLoopLoad();
    const concurrency = (): number => (loop.isBusy() ? slotsBesideBusyLoop : slots);
    this.queue = new HashQueue(concurrency, slots * WAITING_PER_SLOT);
  }

  async onModuleInit(): Promise<void> {
    const engine = await loadArgon2Engine();
    this.dummyHash = await engine.hash(randomBytes(32).toString('base64'), this.cost);
    putHashingLast();
    const { memoryKib, timeCost, parallelism } = this.cost;
    this.logger.log(`argon2id by ${engine.name}, m=${memoryKib} KiB, t=${timeCost}, p=${parallelism}`);
    if (!OWASP_ROWS.some((row) => !isWeaker(this.cost, row))) {
      this.logger.warn('ARGON2_MEMORY_KIB and ARGON2_TIME are below every setting that OWASP recommends');
    }
  }

  async hash(password: string, client: HashClient): Promise<string> {
    const engine = await loadArgon2Engine();
    return this.queue.run(client, () => engine.hash(password, this.cost));
  }

  /**
   * Whether the password made the stored hash; false for a damaged hash. undefined stands for an unknown
   * e-mail. That, and text that can be no password, costs the same work as a wrong password, so that the time
   * does not tell who has an account.
   */
  async verify(storedHash: string | undefined, password: string, client: HashClient): Promise<boolean> {
    const engine = await loadArgon2Engine();
    const candidate = isPasswordText(password) ? storedHash : undefined;
    const matches = await this.queue.run(client, () => engine.verify(candidate ?? this.dummyHash, password));
    return candidate !== undefined && matches;
  }

  /** Whether the stored hash is weaker than the configuration in any parameter, or is no argon2id hash. */
  needsRehash(storedHash: string): boolean {
    if (storedHash.startsWith(this.prefix)) return false;
    const cost = readArgon2Cost(storedHash);
    return cost === undefined || isWeaker(cost, this.cost);
  }
}

function isWeaker(cost: Argon2Cost, than: Argon2Cost): boolean {
  return (
    cost.memoryKib < than.memoryKib || cost.timeCost < than.timeCost || cost.parallelism < than.parallelism
  );
}
