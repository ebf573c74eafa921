import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { BATCH, type Batch } from '../database/batches.js';
import { CleanUpJobs } from './clean-up-jobs.js';

const PERIOD_MS = 60_000;
const CONTINUE_AFTER_MS = 1000;
const MAX_BATCHES = 200;

interface Run {
  deleted: number;
  hasMore: boolean;
}

@Injectable()
export class CleanUpService implements OnApplicationShutdown {
  private readonly logger = new Logger('Cleanup');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly jobs: CleanUpJobs) {}

  start(): void {
    this.schedule(PERIOD_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Runs every job: one that fails keeps no other from its rows. Then throws the first failure. */
  async deleteExpired(now = Date.now()): Promise<Run> {
    const runs: Run[] = [];
    const failures: unknown[] = [];
    for (const job of this.jobs.all) {
      try {
        runs.push(await this.deleteBatches(() => job(now)));
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return {
      deleted: runs.reduce((sum, { deleted }) => sum + deleted, 0),
      hasMore: runs.some(({ hasMore }) => hasMore),
    };
  }

  private async deleteBatches(next: () => Promise<Batch | void>): Promise<Run> {
    let deleted = 0;
    for (let batches = 0; batches < MAX_BATCHES && !this.stopped; batches += 1) {
      const batch = await next();
      if (!batch) return { deleted, hasMore: false };
      deleted += batch.deleted;
      if (batch.examined < BATCH) return { deleted, hasMore: false };
      // SQLite answers within the same turn of the event loop: without a pause nothing else would run.
      await yieldToEventLoop();
    }
    return { deleted, hasMore: deleted > 0 };
  }

  /** The pause varies, so that several instances do not delete the same rows at once. */
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
      const { deleted, hasMore } = await this.deleteExpired();
      if (deleted > 0) this.logger.debug(`${deleted} expired rows and addresses deleted`);
      if (hasMore) pauseMs = CONTINUE_AFTER_MS;
    } catch (error) {
      this.logger.warn({ msg: 'clean-up failed and will be retried', err: error });
    }
    if (!this.stopped) this.schedule(pauseMs);
  }
}
