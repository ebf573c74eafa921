import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { isColumnDenied } from '../database/database-errors.js';
import { inBatches } from '../database/in-batches.js';
import { Transactions } from '../database/transactions.js';
import { BATCH, type Batch } from '../jobs/batch.js';
import { CleanUpJobs } from '../jobs/clean-up-jobs.js';
import { UnnumberedEventsRepository } from './unnumbered-events.repository.js';

const CLEAR_AFTER_MS = 1000;

// Clears the mark of events that have a number, so that nobody looks at them again. Nothing waits for it: until then, and
// after a process that ended before, the feed itself says that they are numbered.
@Injectable()
export class PendingMarks implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Feed');
  private numbered: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private mayNotClear = false;

  constructor(
    private readonly events: UnnumberedEventsRepository,
    private readonly transactions: Transactions,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add(() => this.clearForgotten());
  }

  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    await this.running;
  }

  clear(ids: readonly string[]): void {
    if (this.mayNotClear) return;
    this.numbered.push(...ids);
    if (this.timer) return;
    // Several rounds share a transaction: each commit costs.
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.running = this.running.then(() => this.clearNumbered());
    }, CLEAR_AFTER_MS);
    this.timer.unref();
  }

  private async clearNumbered(): Promise<void> {
    const all = this.numbered;
    this.numbered = [];
    try {
      for await (const ids of inBatches(all)) await this.clearThese(ids);
    } catch (error) {
      // The clean-up will find them.
      this.report(error);
    }
  }

  private async clearForgotten(): Promise<Batch> {
    if (this.mayNotClear) return { examined: 0, deleted: 0 };
    const ids = await this.events.findMarked(BATCH);
    const cleared = ids.length === 0 ? 0 : await this.clearThese(ids);
    return { examined: cleared, deleted: 0 };
  }

  private clearThese(ids: readonly string[]): Promise<number> {
    return this.transactions.run((transaction) => this.events.clear(transaction, ids));
  }

  private report(error: unknown): void {
    if (!isColumnDenied(error)) {
      return this.logger.debug({ msg: 'numbered events keep their mark until the clean-up', err: error });
    }
    this.mayNotClear = true;
    this.logger.warn(
      'the database account may not update events.pending: this process stops trying, and the feed becomes ' +
        'slower with every event; grant UPDATE (ip, pending)',
    );
  }
}
