import { availableParallelism } from 'node:os';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { workersFor } from '../../config/concurrency.js';
import { type Argon2Cost, Env } from '../../config/env.js';
import { passwordHashes } from '../../telemetry/metrics/measurements.js';
import { ARGON2_ENGINE, type Argon2Engine, readArgon2Cost } from './argon2.js';
import { BcryptVerifier, readBcryptCost } from './bcrypt.js';
import { EventLoopMonitor, lowerHashThreadPriority } from './event-loop-monitor.js';
import { FailedBcryptCost, FailedLoginCost } from './failed-login-cost.js';
import { type HashClient, HashQueue } from './hash-queue.js';
import { isPasswordText } from './password-policy.js';

/** libuv's thread pool has 4 threads by default: further hashes would only queue inside it. */
const THREAD_POOL_SIZE = 4;
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
  /** a new hash at the configured cost, when the stored one matched and is weaker, or bcrypt */
  replacement: string | undefined;
}

/** Takes normalized passwords. Rejects with `UnavailableError` when too many wait. */
@Injectable()
export class PasswordHasher implements OnModuleInit {
  private readonly logger = new Logger(PasswordHasher.name);
  private readonly queue: HashQueue;
  private readonly cost: Argon2Cost;
  private readonly failure: FailedLoginCost;
  private readonly bcryptFailure = new FailedBcryptCost();

  constructor(
    env: Env,
    @Inject(ARGON2_ENGINE) private readonly engine: Argon2Engine,
    private readonly bcrypt: BcryptVerifier,
  ) {
    this.cost = env.argon2;
    this.failure = new FailedLoginCost(this.cost);
    // Processes share the cores: more hashes at once give no more logins and slow other routes.
    const cores = Math.max(1, Math.floor(availableParallelism() / workersFor(env).workers));
    const slots = Math.min(cores, THREAD_POOL_SIZE);
    // A saturated event loop needs a core for itself: one more hash would only take time from it.
    const slotsBesideBusyLoop = Math.max(1, Math.min(cores - 1, THREAD_POOL_SIZE));
    const loop = new EventLoopMonitor();
    const concurrency = (): number => (loop.isSaturated() ? slotsBesideBusyLoop : slots);
    this.queue = new HashQueue(concurrency, slots * WAITING_PER_SLOT);
    passwordHashes.provide(() => this.queue.counts);
  }

  async onModuleInit(): Promise<void> {
    // This starts the threads, whose priority is then lowered, and gives the queue a first measure.
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

  /** Every failure costs the same work: a wrong password, a damaged hash, or none since the email is unknown. */
  verify(storedHash: string | undefined, password: string, client: HashClient): Promise<Verification> {
    return this.queue.run(client, async () => {
      const stored = storedHash === undefined ? undefined : readArgon2Cost(storedHash);
      const bcryptCost = storedHash === undefined ? undefined : readBcryptCost(storedHash);
      this.failure.observe(stored);
      this.bcryptFailure.observe(bcryptCost);
      if (storedHash === undefined || !isPasswordText(password)) return this.failUnknown();
      const verifier = bcryptCost === undefined ? this.engine : this.bcrypt;
      const matches = await verifier.verify(storedHash, password);
      return matches ? this.succeed(password, stored) : this.fail(stored, bcryptCost);
    });
  }

  private async succeed(password: string, stored: Argon2Cost | undefined): Promise<Verification> {
    const isOutdated = stored === undefined || isWeaker(stored, this.cost);
    return {
      matches: true,
      replacement: isOutdated ? await this.engine.hash(password, this.cost) : undefined,
    };
  }

  private async fail(verified: Argon2Cost | undefined, bcryptCost?: number): Promise<Verification> {
    const missing = this.failure.missing(verified);
    if (missing) await this.engine.hash(NO_PASSWORD, missing);
    return this.failBcrypt(bcryptCost);
  }

  private async failUnknown(): Promise<Verification> {
    await this.engine.verify(this.failure.dummyHash, NO_PASSWORD);
    return this.failBcrypt(undefined);
  }

  private async failBcrypt(verified: number | undefined): Promise<Verification> {
    for (const hash of this.bcryptFailure.missing(verified)) await this.bcrypt.verify(hash, NO_PASSWORD);
    return { matches: false, replacement: undefined };
  }
}

function isWeaker(cost: Argon2Cost, than: Argon2Cost): boolean {
  return (
    cost.memoryKib < than.memoryKib || cost.timeCost < than.timeCost || cost.parallelism < than.parallelism
  );
}
