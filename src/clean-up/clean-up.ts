import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { ApiKeysRepository } from '../api-keys/api-keys.repository.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { KnownPlacesRepository } from '../auth/sessions/known-places.repository.js';
import { LiveSessionsLimit } from '../auth/sessions/live-sessions-limit.js';
import { LoginTracesRepository } from '../auth/sessions/login-traces.repository.js';
import { SessionDeletion } from '../auth/sessions/session-deletion.js';
import { BATCH, type Batch, deleteFound } from '../database/statements.js';
import { EventsRetention } from '../events/events-retention.js';
import { OperatorEmailsRepository } from '../events/operator-emails.repository.js';
import { PendingMarks } from '../events/feed-numbering.js';
import { Mails } from '../mail/mails.js';
import { InvitationListsRepository } from '../orgs/state/invitations.lists.js';
import { LiftedLimits } from '../rate-limits/login-limits.js';
import { IdempotencyKeysRepository } from '../requests/idempotency-keys.repository.js';
import { OrgPurge } from './org-purge.js';

const CONTINUE_AFTER_MS = 1000;
const MAX_BATCHES = 200;

type Job = () => Promise<Batch | void>;

interface Run {
  deleted: number;
  hasMore: boolean;
}

@Injectable()
export class CleanUp {
  private readonly logger = new Logger('Cleanup');

  constructor(
    private readonly liveSessions: LiveSessionsLimit,
    private readonly sessions: SessionDeletion,
    private readonly places: KnownPlacesRepository,
    private readonly traces: LoginTracesRepository,
    private readonly events: EventsRetention,
    private readonly operatorEmails: OperatorEmailsRepository,
    private readonly marks: PendingMarks,
    private readonly mails: Mails,
    private readonly emailCodes: EmailCodesRepository,
    private readonly keys: IdempotencyKeysRepository,
    private readonly apiKeys: ApiKeysRepository,
    private readonly orgs: OrgPurge,
    private readonly invitations: InvitationListsRepository,
    private readonly limits: LiftedLimits,
  ) {}

  async run(stopping: AbortSignal): Promise<number | void> {
    const { deleted, hasMore } = await this.deleteExpired(Date.now(), stopping);
    if (deleted > 0) this.logger.debug(`${deleted} expired rows and IP addresses deleted`);
    if (hasMore) return CONTINUE_AFTER_MS;
  }

  /** Runs every job, even if another job fails, and then throws the first failure. */
  async deleteExpired(now = Date.now(), stopping?: AbortSignal): Promise<Run> {
    const total: Run = { deleted: 0, hasMore: false };
    const failures: unknown[] = [];
    for (const job of this.jobs(now)) {
      try {
        const { deleted, hasMore } = await runBatches(job, stopping);
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
      () => this.liveSessions.checkAgain(),
      () => this.sessions.deleteExpiredCodes(now),
      () => this.sessions.deleteExpired(now),
      () => this.sessions.deleteEnded(now),
      () => this.places.deleteOld(now),
      () => this.traces.deleteOldAddresses(now),
      () => this.events.deleteEvents(now),
      () => this.operatorEmails.deleteUnused(),
      () => this.events.deleteAddresses(now),
      () => this.events.deleteEntriesLeft(now),
      () => this.marks.clearLeft(),
      () => this.mails.deleteOld(now),
      async () => deleteFound(await this.emailCodes.findOld(now, BATCH), (ids) => this.emailCodes.purge(ids)),
      async () => deleteFound(await this.keys.findExpired(now, BATCH), (keys) => this.keys.delete(keys)),
      async () => deleteFound(await this.keys.findExcess(now, BATCH), (keys) => this.keys.delete(keys)),
      async () => deleteFound(await this.apiKeys.findOld(now, BATCH), (ids) => this.apiKeys.purge(ids)),
      () => this.orgs.purgeBatch(now),
      () => this.invitations.markExpired(now),
      () => this.invitations.deleteOld(now),
      () => this.limits.deleteOld(),
    ];
  }
}

async function runBatches(job: Job, stopping: AbortSignal | undefined): Promise<Run> {
  let deleted = 0;
  for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
    if (stopping?.aborted) break;
    const batch = await job();
    if (!batch) return { deleted, hasMore: false };
    deleted += batch.deleted;
    if (batch.examined < BATCH) return { deleted, hasMore: false };
    await yieldToEventLoop();
  }
  return { deleted, hasMore: deleted > 0 };
}
