import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { ApiKeysRepository } from '../api-keys/api-keys.repository.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { ProviderLoginsRepository } from '../auth/providers/provider-logins.repository.js';
import { KnownPlacesRepository } from '../auth/sessions/known-places.repository.js';
import { LiveSessionsLimit } from '../auth/sessions/live-sessions-limit.js';
import { LoginTracesRepository } from '../auth/sessions/login-traces.repository.js';
import { SessionDeletion } from '../auth/sessions/session-deletion.js';
import { BATCH, type Batch, deleteFound } from '../database/statements.js';
import { type Transaction, Unchanged } from '../database/transactions/transactions.js';
import { EventsRetention } from '../events/events-retention.js';
import { OperatorEmailsRepository } from '../events/operator-emails.repository.js';
import { PendingMarks } from '../events/feed-numbering.js';
import { Mails } from '../mail/mails.js';
import { InvitationListsRepository } from '../orgs/state/invitations.lists.js';
import { InvitationsRepository } from '../orgs/state/invitations.repository.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { type LockedOrg, OrgChanges } from '../orgs/state/org-changes.js';
import { NO_FACTS, OrgsRepository } from '../orgs/state/orgs.repository.js';
import { LiftedLimits } from '../rate-limits/login-limits.js';
import { IdempotencyKeysRepository } from '../requests/idempotency-keys.repository.js';

const CONTINUE_AFTER_MS = 1000;
const MAX_BATCHES = 200;

type Job = () => Promise<Batch | void>;

interface Run {
  deleted: number;
  hasMore: boolean;
}

/** Deletes rows explicitly, because Galera does not certify cascades. The next batch resumes an interrupted purge. */
@Injectable()
export class OrgPurge {
  constructor(
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly apiKeys: ApiKeysRepository,
  ) {}

  async purgeBatch(now: number): Promise<Batch> {
    const id = await this.orgs.findDue(now);
    if (id === undefined) return { examined: 0, deleted: 0 };
    const system = { actor: { kind: 'system' } } as const;
    const { answer } = await this.changes.inAnyOrg(system, id, NO_FACTS, async (tx, org) => {
      if (!org || org.purgeAt === null || org.purgeAt > now) return new Unchanged({ deleted: 0 });
      if (org.purgeBeganAt === null) await this.orgs.beginPurge(tx, id, now);
      return { deleted: await this.deleteRows(tx, org) };
    });
    return { examined: BATCH, ...answer };
  }

  private async deleteRows(tx: Transaction, org: LockedOrg): Promise<number> {
    const members = await this.members.deleteOfOrg(tx, org.id, BATCH);
    if (members === BATCH) return members;
    const invitations = await this.invitations.deleteOfOrg(tx, org.id, BATCH);
    if (invitations === BATCH) return members + invitations;
    // At most the 100 that an organization can have.
    const apiKeys = await this.apiKeys.deleteAllOfOrg(tx, org.id);
    await this.orgs.purge(tx, org.id);
    await org.record({ type: 'org.purged' });
    return members + invitations + apiKeys + 1;
  }
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
    private readonly providerLogins: ProviderLoginsRepository,
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
      () => this.providerLogins.deleteExpired(now),
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
