import { Injectable } from '@nestjs/common';
import { isSignedInOperator } from '../access/principal.js';
import { ApiKeysRepository } from '../api-keys/api-keys.repository.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { IdentitiesRepository } from '../auth/providers/identities.repository.js';
import { type OwnerProof, OwnerProofs, type ProvenOwner } from '../auth/second-factor/owner-proofs.js';
import { SecondFactorRows } from '../auth/second-factor/second-factors.repository.js';
import type { OkResponse } from '../http/fields.js';
import { KnownPlacesRepository } from '../auth/sessions/known-places.repository.js';
import { LoginTracesRepository } from '../auth/sessions/login-traces.repository.js';
import { SessionDeletion } from '../auth/sessions/session-deletion.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import { type ChangeOutcome, type Transaction, UNCHANGED } from '../database/transactions/transactions.js';
import { EventAddressesRepository } from '../events/events.addresses.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationsRepository } from '../orgs/state/invitations.repository.js';
import type { LockedMembership } from '../orgs/state/members.repository.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { type OrphanedOrg, requireOtherOwners, UserMemberships } from '../orgs/state/user-memberships.js';
import { RefusedError } from '../problems/problem.js';
import { IdempotencyKeysRepository } from '../requests/idempotency-keys.repository.js';
import type { Write } from '../requests/write.js';
import type { LockedUser } from '../users/user-changes.js';
import { UserUpdatesRepository } from '../users/users.updates.js';
import type { Forcible } from './user-operations.js';

@Injectable()
export class UserDeletion {
  constructor(
    private readonly users: UserUpdatesRepository,
    private readonly orgs: OrgChanges,
    private readonly userMemberships: UserMemberships,
    private readonly invitations: InvitationsRepository,
    private readonly codes: EmailCodesRepository,
    private readonly mails: MailsRepository,
    private readonly keys: IdempotencyKeysRepository,
    private readonly apiKeys: ApiKeysRepository,
    private readonly identities: IdentitiesRepository,
    private readonly secondFactors: SecondFactorRows,
    private readonly places: KnownPlacesRepository,
    private readonly sessions: SessionDeletion,
    private readonly traces: LoginTracesRepository,
    private readonly addresses: EventAddressesRepository,
  ) {}

  // One transaction deletes all but ended sessions: an interrupted or refused deletion leaves a user who can log in.
  async delete(userId: string, { actor, force }: Forcible): Promise<ChangeOutcome<OrphanedOrg[]>> {
    await this.deleteEndedSessions(userId);
    return this.orgs.inOrgsOf({ actor }, userId, (tx, user, memberships) => {
      // An operator may mistype the user. Over HTTP, `inOrgsOf` protects every operator.
      const isCommand = actor.kind === 'operator' && !isSignedInOperator(actor);
      if (isCommand && !force && user.operatorSince !== null) {
        throw new RefusedError(
          'the user is an operator: revoke that first, or use --force',
          'operator_protected',
        );
      }
      return this.deleteRows(tx, user, { actor, memberships, force });
    });
  }

  /** Before the transaction, which then has few rows to delete. */
  async deleteEndedSessions(userId: string): Promise<void> {
    await this.sessions.deleteEndedOf(userId);
  }

  /** Deletes the rows of every table explicitly, because Galera does not certify cascades. */
  async deleteRows(
    tx: Transaction,
    user: LockedUser,
    { actor, memberships, force }: Forcible & { memberships: LockedMembership[] },
  ): Promise<OrphanedOrg[]> {
    const { id: userId, email } = user;
    await this.users.endSessions(tx, [userId]);
    const change = { actor, userId, memberships, force };
    const { orphaned, events } = await this.userMemberships.leave(tx, change);

    // Pending invitations stay: the owner of an unverified mailbox may be another person.
    if (user.emailVerifiedAt !== null) await this.invitations.deleteEndedOf(tx, email);
    await this.codes.voidAll(tx, { id: userId, email });
    // Emails count towards limits until they are a week old.
    await this.mails.deleteAddressesOf(tx, user);
    await this.keys.deleteAllOf(tx, userId);
    await this.apiKeys.deleteOfUser(tx, userId);
    await this.identities.deleteOfUser(tx, userId);
    await this.secondFactors.delete(tx, userId);
    await this.places.deleteAllOf(tx, userId);

    await user.recordWithEnd(
      { type: 'account.deleted', ...(orphaned.length > 0 && { data: { force: true } }) },
      { reason: 'account_deleted' },
      ...events,
    );
    await this.addresses.deleteOfUser(tx, userId);

    // On Galera a refresh that another node commits from here on undoes the whole deletion.
    await this.sessions.deleteAllOf(tx, userId);
    await this.traces.delete(tx, userId);
    await this.users.delete(tx, userId);
    return orphaned;
  }
}

/** A login that re-hashes the password may come between, once. */
const MAX_ATTEMPTS = 2;

@Injectable()
export class OwnDeletion {
  constructor(
    private readonly deletion: UserDeletion,
    private readonly proofs: OwnerProofs,
    private readonly users: UserUpdatesRepository,
    private readonly orgs: OrgChanges,
  ) {}

  async delete(write: Write, proof: OwnerProof, client: HashClient): Promise<OkResponse> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const owner = await this.proofs.verify(write.actor, proof, client);
      const done = await this.deleteProven(write, owner);
      if (done.kind === 'done') return done.answer;
    }
    throw new LostConflictError(undefined);
  }

  /** Changes nothing if the password has changed since. */
  private async deleteProven(write: Write, owner: ProvenOwner): Promise<ChangeOutcome<OkResponse>> {
    const { actor, dryRun } = write;
    const { passwordHash } = owner.credentials;
    if (!dryRun) await this.deletion.deleteEndedSessions(actor.id);
    return this.orgs.inOrgsOf(write, actor.id, async (tx, user, memberships) => {
      if (!(await this.users.hasPassword(tx, user.id, passwordHash))) return UNCHANGED;
      requireOtherOwners(memberships, false);
      // A dry run ends here, where nothing else can refuse the deletion, and uses no code.
      if (dryRun) return { ok: true };
      await this.proofs.use(tx, owner, actor);
      await this.deletion.deleteRows(tx, user, { actor, memberships, force: false });
      return { ok: true };
    });
  }
}
