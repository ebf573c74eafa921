import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { KnownPlacesRepository } from '../auth/sessions/known-places.repository.js';
import { LiveSessionsLimit } from '../auth/sessions/live-sessions-limit.js';
import { SessionDeletion } from '../auth/sessions/session-deletion.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { BATCH, type Batch, deleteFound } from '../database/statements.js';
import { EventsRetention } from '../events/events-retention.js';
import { PendingMarks } from '../events/feed-numbering.js';
import { Mails } from '../mail/mails.js';
import { OrgPurge } from '../orgs/orgs.service.js';
import { InvitationLists } from '../orgs/state/invitations.lists.js';
import { LiftedLimits } from '../rate-limits/login-limits.js';
import { IdempotencyKeysRepository } from '../requests/idempotency-keys.repository.js';
import { OrgsModule } from '../orgs/orgs.controller.js';

const PERIOD_MS = 60_000;
const CONTINUE_AFTER_MS = 1000;
const MAX_BATCHES = 200;

type Job = () => Promise<Batch | void>;

interface Run {
  deleted: number;
  hasMore: boolean;
}

@Injectable()
export class CleanUp implements OnApplicationShutdown {
  private readonly logger = new Logger('Cleanup');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly revocation: SessionRevocation,
    private readonly liveSessions: LiveSessionsLimit,
    private readonly sessions: SessionDeletion,
    private readonly places: KnownPlacesRepository,
    private readonly events: EventsRetention,
    private readonly marks: PendingMarks,
    private readonly mails: Mails,
    private readonly emailCodes: EmailCodesRepository,
    private readonly keys: IdempotencyKeysRepository,
    private readonly orgs: OrgPurge,
    private readonly invitations: InvitationLists,
    private readonly limits: LiftedLimits,
  ) {}

  start(): void {
    this.schedule(PERIOD_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Runs every job, even if another job fails, and then throws the first failure. */
  async deleteExpired(now = Date.now()): Promise<Run> {
    const total: Run = { deleted: 0, hasMore: false };
    const failures: unknown[] = [];
    for (const job of this.jobs(now)) {
      try {
        const { deleted, hasMore } = await this.runBatches(job);
        total.deleted += deleted;
        total.hasMore ||= hasMore;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return total;
  }

  private jobs(now: number): Job[] {
    return [
      () => this.revocation.resume(now),
      () => this.liveSessions.lookAgain(),
      () => this.sessions.deleteExpiredCodes(now),
      () => this.sessions.deleteExpired(now),
      () => this.sessions.deleteEnded(now),
      () => this.places.deleteOld(now),
      () => this.events.deleteEvents(now),
      () => this.events.deleteAddresses(now),
      () => this.events.deleteEntriesLeft(now),
      () => this.marks.clearLeft(),
      () => this.mails.deleteOld(now),
      async () => deleteFound(await this.emailCodes.findOld(now, BATCH), (ids) => this.emailCodes.purge(ids)),
      async () => deleteFound(await this.keys.findExpired(now, BATCH), (keys) => this.keys.delete(keys)),
      () => this.orgs.purgeBatch(now),
      () => this.invitations.markExpired(now),
      () => this.invitations.deleteOld(now),
      () => this.limits.deleteOld(),
    ];
  }

  private async runBatches(job: Job): Promise<Run> {
    let deleted = 0;
    for (let batches = 0; batches < MAX_BATCHES && !this.stopped; batches += 1) {
      const batch = await job();
      if (!batch) return { deleted, hasMore: false };
      deleted += batch.deleted;
      if (batch.examined < BATCH) return { deleted, hasMore: false };
      await yieldToEventLoop();
    }
    return { deleted, hasMore: deleted > 0 };
  }

  /** Adds jitter, so that instances do not delete the same rows at once. */
  private schedule(pauseMs: number): void {
    const run = (): void => {
      this.running = this.runOnce();
    };
    this.timer = setTimeout(run, pauseMs * (0.75 + Math.random() / 2)).unref();
  }

  private async runOnce(): Promise<void> {
    let pauseMs = PERIOD_MS;
    try {
      const { deleted, hasMore } = await this.deleteExpired();
      if (deleted > 0) this.logger.debug(`${deleted} expired rows and IP addresses deleted`);
      if (hasMore) pauseMs = CONTINUE_AFTER_MS;
    } catch (error) {
      this.logger.warn({ msg: 'clean-up failed and will be retried', err: error });
    }
    if (!this.stopped) this.schedule(pauseMs);
  }
}

@Module({
  imports: [OrgsModule],
  providers: [CleanUp],
})
export class CleanUpModule {}
