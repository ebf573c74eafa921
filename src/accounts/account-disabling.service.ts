import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { Transaction } from '../database/transaction.js';
import { EventsRepository } from '../events/events.repository.js';
import { InviterRevocations } from '../memberships/inviter-revocations.js';
import { OwnershipRepository } from '../memberships/ownership.repository.js';
import { AccountRepository } from '../users/account.repository.js';
import { OnlyOwnerError } from './accounts.errors.js';
import { LockedOrgs, type RequireLocked } from './locked-orgs.js';

export interface Disabling {
  actor: Actor;
  /** also where an organization is left without an enabled owner */
  force: boolean;
}

/**
 * Disables accounts. It locks the organizations that the user manages, as every change of their owners, and every
 * invitation, does.
 */
@Injectable()
export class AccountDisablingService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly ownership: OwnershipRepository,
    private readonly events: EventsRepository,
    private readonly invitations: InviterRevocations,
    private readonly lockedOrgs: LockedOrgs,
  ) {}

  /**
   * Ends every session, too. False when the account is disabled already.
   *
   * @throws OnlyOwnerError
   */
  disable(userId: string, disabling: Disabling): Promise<boolean> {
    return this.lockedOrgs.run(
      async () => (await this.ownership.findManaged(userId)).map(({ id }) => id),
      (transaction, requireLocked) => this.disableIn(transaction, userId, requireLocked, disabling),
    );
  }

  private async disableIn(
    transaction: Transaction,
    userId: string,
    requireLocked: RequireLocked,
    { actor, force }: Disabling,
  ): Promise<boolean> {
    if (!(await this.accounts.disable(transaction, userId))) return false;
    const managed = await this.ownership.findManagedIn(transaction, userId);
    requireLocked(managed.map(({ id }) => id));
    const orphaned = managed
      .filter(({ role, hasOtherOwner }) => role === 'owner' && !hasOtherOwner)
      .map(({ id }) => id);
    if (orphaned.length > 0 && !force) throw new OnlyOwnerError(orphaned);

    const userRevision = await this.accounts.revisionOf(transaction, userId);
    const about = { actor, userId };
    const inviting = managed
      .filter(({ invites }) => invites)
      .map(({ id, revision }) => ({ orgId: id, revision }));
    const revoked = await this.invitations.revokeAll(transaction, userId, inviting, {
      actor,
      reason: 'inviter_disabled',
    });
    await this.events.record(
      transaction,
      {
        ...about,
        type: 'account.disabled',
        userRevision,
        ...(orphaned.length > 0 && { data: { force: true } }),
      },
      { ...about, type: 'session.ended', data: { reason: 'account_disabled', all: true } },
      ...revoked,
    );
    return true;
  }
}
