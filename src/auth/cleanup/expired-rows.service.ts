import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { BATCH, type Batch } from './batch.js';
import { ExpiredCodes } from './expired-codes.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import { ExpiredEvents } from './expired-events.js';
import { ExpiredSessions } from './expired-sessions.js';

const PERIOD_MS = 60_000;
/** after a run that had to leave something to the next */
const PAUSE_MS = 1000;
/** a revocation that is not done by then has broken off, or takes so long that a second one does no harm */
const RESUMED_AFTER_MS = 10_000;
/** batches of each table in one run */
const BATCHES = 200;

interface Run {
  deleted: number;
  /** it deleted something, and did not come to the end */
  goesOn: boolean;
}

/**
 * Deletes what has expired, in batches between which everything else gets its turn, and completes revocations that
 * broke off.
 */
@Injectable()
export class ExpiredRowsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Cleanup');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly codes: ExpiredCodes,
    private readonly sessions: ExpiredSessions,
    private readonly events: ExpiredEvents,
    private readonly revocation: SessionRevocation,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule(PERIOD_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  async deleteExpired(now = Date.now()): Promise<Run> {
    const before = now - LEEWAY_SECONDS * 1000;
    const codes = await this.deleteBatches(() => this.codes.deleteBatch(before));
    const sessions = await this.deleteBatches(() => this.sessions.deleteBatch(before));
    const events = await this.deleteBatches(() => this.events.deleteBatch(now));
    const addresses = await this.deleteBatches(() => this.events.deleteAddresses(now));
    const runs = [codes, sessions, events, addresses];
    return {
      deleted: runs.reduce((sum, { deleted }) => sum + deleted, 0),
      goesOn: runs.some(({ goesOn }) => goesOn),
    };
  }

  private async deleteBatches(next: () => Promise<Batch>): Promise<Run> {
    let deleted = 0;
    for (let batches = 0; batches < BATCHES && !this.stopped; batches += 1) {
      const batch = await next();
      deleted += batch.deleted;
      if (batch.examined < BATCH) return { deleted, goesOn: false };
      // On SQLite nothing else would get a turn before the last batch.
      await turnOfTheLoop();
    }
    return { deleted, goesOn: deleted > 0 };
  }

  /** Each instance waits its own time, so that several do not delete the same rows at once. */
  private schedule(pauseMs: number): void {
    this.timer = setTimeout(
      () => {
        this.running = this.runOnce();
      },
      pauseMs * (0.75 + Math.random() / 2),
    );
    this.timer.unref();
  }

  private async runOnce(): Promise<void> {
    let pauseMs = PERIOD_MS;
    try {
      await this.revocation.resume(Date.now() - RESUMED_AFTER_MS);
      const { deleted, goesOn } = await this.deleteExpired();
      if (deleted > 0) this.logger.debug(`${deleted} expired rows and addresses deleted`);
      if (goesOn) pauseMs = PAUSE_MS;
    } catch (error) {
      this.logger.warn({ msg: 'clean-up failed and will be tried again', err: error });
    }
    if (!this.stopped) this.schedule(pauseMs);
  }
}
