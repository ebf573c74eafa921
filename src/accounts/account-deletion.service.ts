import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../access/actor.js';
import { MailCodesRepository } from '../auth/mail-codes/mail-codes.repository.js';
import { SessionDeletion } from '../auth/sessions/session-deletion.js';
import type { Transaction } from '../database/transaction.js';
import { EventAddressesRepository } from '../record/event-addresses.repository.js';
import { EventsRepository } from '../record/events.repository.js';
import type { NewEvent } from '../record/new-event.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationsRepository } from '../orgs/invitations/invitations.repository.js';
import { InviterRevocations } from '../orgs/invitations/inviter-revocations.js';
import { type Departure, OwnershipRepository } from '../orgs/ownership.repository.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { IdempotencyKeysRepository } from '../requests/idempotency-keys.repository.js';
import { AbandonedOrgs } from '../orgs/abandoned-orgs.js';
import { LockedOrgs } from '../orgs/locked-orgs.js';
import { orgIdsOf, type OrphanedOrg, orphanings, requireOtherOwners } from '../orgs/owner-rule.js';

export interface Deletion {
  actor: Actor;
  /** allows an organization to be left without an enabled owner */
  force: boolean;
  /** hash of the verified password; the account is kept if it has changed since */
  passwordHash?: string;
  /** deletes nothing, and runs `lastStep` as soon as nothing can refuse the deletion any more */
  dryRun?: boolean;
  /** runs in the transaction; an error that it throws rolls everything back */
  lastStep?: (transaction: Transaction) => Promise<unknown>;
}

/** Largest difference between the clocks of instances: each stamps the events that it writes. */
const MAX_CLOCK_SKEW_MS = 60_000;

interface Departing {
  userId: string;
  actor: Actor;
  departures: readonly Departure[];
  orphaned: readonly Departure[];
}

/** The record keeps the ids of deleted users, but no client address of theirs. */
@Injectable()
export class AccountDeletionService {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly ownership: OwnershipRepository,
    private readonly sessions: SessionDeletion,
    private readonly codes: MailCodesRepository,
    private readonly mails: MailsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly revocations: InviterRevocations,
    private readonly events: EventsRepository,
    private readonly addresses: EventAddressesRepository,
    private readonly keys: IdempotencyKeysRepository,
    private readonly abandonedOrgs: AbandonedOrgs,
    private readonly lockedOrgs: LockedOrgs,
  ) {}

  /**
   * Ended sessions go first, then one transaction decides about all the rest: a deletion that is interrupted or refused
   * leaves an account that works. Returns undefined if the user no longer exists or the password has changed.
   * @throws OnlyOwnerError
   */
  async delete(userId: string, deletion: Deletion): Promise<OrphanedOrg[] | undefined> {
    const since = Date.now() - MAX_CLOCK_SKEW_MS;
    const acts = deletion.dryRun ? [] : await this.prepare(userId);
    return this.lockedOrgs.run(
      { principal: principalOf(deletion.actor), row: userId },
      () => this.ownership.findOrgIdsOf(userId),
      async (transaction, requireLocked) => {
        // Logins of the user, and additions to organizations, wait from here on.
        if (!(await this.users.beginDeletion(transaction, userId, deletion.passwordHash))) return undefined;
        const departures = await this.ownership.findDepartures(transaction, userId);
        requireLocked(orgIdsOf(departures));
        const orphaned = requireOtherOwners(departures, deletion.force);
        if (deletion.dryRun) {
          await deletion.lastStep?.(transaction);
          return [];
        }
        const { actor } = deletion;
        const events = await this.eventsOf(transaction, { userId, departures, orphaned, actor });
        const inviting = departures.filter(({ invites }) => invites);
        const reason = 'inviter_deleted';
        const revoked = await this.revocations.revokeAll(transaction, userId, inviting, { actor, reason });

        const abandoned =
          orphaned.length > 0 ? await this.abandonedOrgs.delete(transaction, departures, actor) : [];

        await this.deleteRows(transaction, userId, departures);
        await this.events.record(transaction, ...events, ...revoked, ...abandoned);
        // Includes the events that were just recorded.
        await this.addresses.deleteOf(transaction, userId, { acts, since });
        // Last, because on Galera a refresh that another node commits from here on undoes all of it.
        await this.sessions.deleteAllOf(transaction, userId);
        await this.users.delete(transaction, userId);
        await deletion.lastStep?.(transaction);
        return orphaned.map(({ orgId: id, hasOtherMember }) => ({ id, isDeleted: !hasOtherMember }));
      },
    );
  }

  /** Does the slow work before anything is decided, so that the transaction has few sessions to delete. */
  private async prepare(userId: string): Promise<string[]> {
    await this.sessions.deleteEndedOf(userId);
    return this.addresses.findActs(userId, await this.ownership.findOrgIdsOf(userId));
  }

  /** Deletes explicitly, because Galera does not certify the rows that a cascade deletes. */
  private async deleteRows(transaction: Transaction, userId: string, departures: Departure[]): Promise<void> {
    await this.ownership.deleteMembershipsOf(transaction, userId, orgIdsOf(departures));
    const { email, emailVerifiedAt } = await this.emails.emailOf(transaction, userId);
    // An unverified e-mail may be somebody else's, whose invitations stay.
    if (emailVerifiedAt !== null) await this.invitations.deleteEndedOf(transaction, email);
    await this.codes.voidAll(transaction, { id: userId, email });
    await this.mails.deleteAddressesOf(transaction, email);
    await this.keys.deleteAllOf(transaction, userId);
  }

  private async eventsOf(
    transaction: Transaction,
    { userId, departures, orphaned, actor }: Departing,
  ): Promise<NewEvent[]> {
    const about = { actor, userId };
    const userRevision = await this.users.revisionOf(transaction, userId);
    return [
      {
        ...about,
        type: 'account.deleted',
        userRevision,
        ...(orphaned.length > 0 && { data: { force: true } }),
      },
      { ...about, type: 'session.ended', data: { reason: 'account_deleted', all: true } },
      ...departures.map(({ orgId, revision, role }): NewEvent => ({
        ...about,
        type: 'member.removed',
        orgId,
        orgRevision: revision,
        data: { role, reason: 'account_deleted' },
      })),
      ...orphanings(
        orphaned.filter(({ hasOtherMember }) => hasOtherMember),
        { ...about, reason: 'owner_deleted' },
      ),
    ];
  }
}
