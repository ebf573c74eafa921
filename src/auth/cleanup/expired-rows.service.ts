import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { BATCH, type Batch } from './batch.js';
import { CleanUpJobs } from './clean-up-jobs.js';
import { ExpiredCodes } from './expired-codes.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import { ExpiredEvents } from './expired-events.js';
import { ExpiredKeys } from './expired-keys.js';
import { ExpiredSessions } from './expired-sessions.js';
import { OldMails } from './old-mails.js';

const PERIOD_MS = 60_000;
const CONTINUE_AFTER_MS = 1000;
/** A revocation still pending by then was interrupted; if it is merely slow, a second one does no harm. */
const STALE_REVOCATION_MS = 10_000;
const MAX_BATCHES = 200;

interface Run {
  deleted: number;
  hasMore: boolean;
}

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
    private readonly mails: OldMails,
    private readonly keys: ExpiredKeys,
    private readonly revocation: SessionRevocation,
    private readonly jobs: CleanUpJobs,
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
    const mails = await this.deleteBatches(() => this.mails.deleteBatch(now));
    const mailCodes = await this.deleteBatches(() => this.mails.deleteCodes(now));
    const keys = await this.deleteBatches(() => this.keys.deleteBatch(now));
    const runs = [codes, sessions, events, addresses, mails, mailCodes, keys];
    for (const job of this.jobs.all) runs.push(await this.deleteBatches(() => job(now)));
    return {
      deleted: runs.reduce((sum, { deleted }) => sum + deleted, 0),
      hasMore: runs.some(({ hasMore }) => hasMore),
    };
  }

  private async deleteBatches(next: () => Promise<Batch>): Promise<Run> {
    let deleted = 0;
    for (let batches = 0; batches < MAX_BATCHES && !this.stopped; batches += 1) {
      const batch = await next();
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
      await this.revocation.resume(Date.now() - STALE_REVOCATION_MS);
      const { deleted, hasMore } = await this.deleteExpired();
      if (deleted > 0) this.logger.debug(`${deleted} expired rows and addresses deleted`);
      if (hasMore) pauseMs = CONTINUE_AFTER_MS;
    } catch (error) {
      this.logger.warn({ msg: 'clean-up failed and will be retried', err: error });
    }
    if (!this.stopped) this.schedule(pauseMs);
  }
}
