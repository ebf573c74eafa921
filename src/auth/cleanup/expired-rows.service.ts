import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { BATCH, type Batch } from './batch.js';
import { ExpiredCodes } from './expired-codes.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import { ExpiredEvents } from './expired-events.js';
import { ExpiredSessions } from './expired-sessions.js';
import { OldMails } from './old-mails.js';

const PERIOD_MS = 60_000;
/** after a run that left expired rows to the next */
const CONTINUE_AFTER_MS = 1000;
/** A revocation still pending by then was interrupted; if it is merely slow, a second one does no harm. */
const STALE_REVOCATION_MS = 10_000;
const MAX_BATCHES = 200;

interface Run {
  deleted: number;
  /** it deleted something and stopped before the end */
  hasMore: boolean;
}

@Injectable()
export class ExpiredRowsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Cleanup');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private readonly further: ((now: number) => Promise<Batch>)[] = [];

  constructor(
    private readonly codes: ExpiredCodes,
    private readonly sessions: ExpiredSessions,
    private readonly events: ExpiredEvents,
    private readonly mails: OldMails,
    private readonly revocation: SessionRevocation,
  ) {}

  /** What rooms above have to clean up, too. */
  include(deleteBatch: (now: number) => Promise<Batch>): void {
    this.further.push(deleteBatch);
  }

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
    const runs = [codes, sessions, events, addresses, mails, mailCodes];
    for (const next of this.further) runs.push(await this.deleteBatches(() => next(now)));
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
      // SQLite answers within the same turn: without a pause nothing else would run.
      await yieldToEventLoop();
    }
    return { deleted, hasMore: deleted > 0 };
  }

  /** Jittered, so that several instances do not delete the same rows at once. */
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
