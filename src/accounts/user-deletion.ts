import { Injectable } from '@nestjs/common';
import { type Actor, isSignedInOperator } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { SecondFactorRows } from '../auth/second-factor/second-factors.repository.js';
import { SessionDeletion } from '../auth/sessions/session-deletion.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { EventAddresses } from '../events/events.addresses.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationsRepository } from '../orgs/state/invitations.repository.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { type OrphanedOrg, requireOtherOwners, UserDepartures } from '../orgs/state/user-departures.js';
import { RefusedError } from '../problems/problem.js';
import { IdempotencyKeysRepository } from '../requests/idempotency-keys.repository.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { UserEvents } from '../users/user-events.js';

export interface Deletion {
  actor: Actor;
  /** allows an organization to be left without an enabled owner, and a command to delete an operator */
  force: boolean;
  /** hash of the verified password; the user is kept if it has changed since */
  passwordHash?: string;
  /** deletes nothing, and runs `lastStep` as soon as nothing can refuse the deletion any more */
  dryRun?: boolean;
  /** runs in the transaction once the user's row is locked, but not in a dry run */
  firstStep?: (transaction: Transaction) => Promise<unknown>;
  /** runs in the transaction; an error that it throws rolls everything back */
  lastStep?: (transaction: Transaction) => Promise<unknown>;
}

/** Largest difference between the clocks of instances: each stamps the events that it writes. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** The audit log keeps the ids of deleted users, but no client IP address of theirs. */
@Injectable()
export class UserDeletion {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly orgs: OrgChanges,
    private readonly members: MembersRepository,
    private readonly departures: UserDepartures,
    private readonly invitations: InvitationsRepository,
    private readonly codes: EmailCodesRepository,
    private readonly mails: MailsRepository,
    private readonly keys: IdempotencyKeysRepository,
    private readonly secondFactors: SecondFactorRows,
    private readonly sessions: SessionDeletion,
    private readonly events: UserEvents,
    private readonly addresses: EventAddresses,
  ) {}

  /**
   * Ended sessions go first, then one transaction decides about all the rest: a deletion that is interrupted or refused
   * leaves a user who can log in. Every row goes by a statement of its own, because Galera does not certify the rows that
   * a cascade deletes. Returns undefined if the user no longer exists or the password has changed.
   * @throws RefusedError where an organization would have no enabled owner, or a command names an operator
   */
  async delete(userId: string, deletion: Deletion): Promise<OrphanedOrg[] | undefined> {
    const { actor, force, passwordHash, dryRun = false, firstStep, lastStep } = deletion;
    const since = Date.now() - MAX_CLOCK_SKEW_MS;
    const acts = dryRun ? [] : await this.prepare(userId);
    return this.orgs.inOrgsOf({ actor }, userId, async (transaction, findDepartures) => {
      // Logins of the user, and additions to organizations, wait from here on.
      if (!(await this.users.beginDeletion(transaction, userId, passwordHash))) return undefined;
      await this.requireForced(transaction, userId, deletion);
      const departures = await findDepartures();
      const departing = { userId, departures, orphaned: requireOtherOwners(departures, force) };
      if (dryRun) {
        await lastStep?.(transaction);
        return [];
      }
      await firstStep?.(transaction);
      const { orphaned, events } = await this.departures.leave(transaction, actor, departing);

      const { email, emailVerifiedAt } = await this.emails.emailOf(transaction, userId);
      // Pending invitations stay: they are for the owner of the mailbox, who may be another person if it is not verified.
      if (emailVerifiedAt !== null) await this.invitations.deleteEndedOf(transaction, email);
      await this.codes.voidAll(transaction, { id: userId, email });
      // Emails count towards limits until they are a week old.
      await this.mails.deleteAddressesOf(transaction, email);
      await this.keys.deleteAllOf(transaction, userId);
      await this.secondFactors.delete(transaction, userId);

      await this.events.recordWithEnd(
        transaction,
        { type: 'account.deleted', actor, userId, ...(orphaned.length > 0 && { data: { force: true } }) },
        { reason: 'account_deleted' },
        ...events,
      );
      // Includes the events that were just recorded.
      await this.addresses.deleteOfUser(transaction, userId, { acts, since });

      // On Galera a refresh that another node commits from here on undoes the whole deletion.
      await this.sessions.deleteAllOf(transaction, userId);
      await this.users.delete(transaction, userId);
      await lastStep?.(transaction);
      return orphaned;
    });
  }

  /** An operator may mistype the user. Over HTTP, `recordWithEnd` refuses the account of an operator, forced or not. */
  private async requireForced(
    transaction: Transaction,
    userId: string,
    { actor, force }: Deletion,
  ): Promise<void> {
    if (force || actor.kind !== 'operator' || isSignedInOperator(actor)) return;
    const { operatorSince } = await this.users.stateOf(transaction, userId);
    if (operatorSince === null) return;
    throw new RefusedError(
      'the user is an operator: revoke that first, or use --force',
      'operator_protected',
    );
  }

  /** Does the slow work before anything is decided, so that the transaction has few rows to delete. */
  private async prepare(userId: string): Promise<string[]> {
    await this.sessions.deleteEndedOf(userId);
    return this.addresses.findActs(userId, await this.members.findOrgIds(userId));
  }
}
