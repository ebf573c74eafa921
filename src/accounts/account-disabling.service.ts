import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../access/actor.js';
import type { Transaction } from '../database/transaction.js';
import { InviterRevocations } from '../orgs/invitations/inviter-revocations.js';
import { OwnershipRepository } from '../orgs/ownership.repository.js';
import { UserEvents } from '../users/user-events.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { LockedOrgs, type RequireLocked } from '../orgs/locked-orgs.js';
import { orgIdsOf, type OrphanedOrg, orphanings, requireOtherOwners } from '../orgs/owner-rule.js';

export interface Disabling {
  actor: Actor;
  force: boolean;
}

/** Locks every organization of the user: where they are no owner yet, somebody may be handing it over to them. */
@Injectable()
export class AccountDisablingService {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly ownership: OwnershipRepository,
    private readonly events: UserEvents,
    private readonly invitations: InviterRevocations,
    private readonly lockedOrgs: LockedOrgs,
  ) {}

  /** @throws OnlyOwnerError */
  disable(userId: string, disabling: Disabling): Promise<OrphanedOrg[] | undefined> {
    return this.lockedOrgs.run(
      { principal: principalOf(disabling.actor), row: userId },
      () => this.ownership.findOrgIdsOf(userId),
      (transaction, requireLocked) => this.disableIn(transaction, userId, requireLocked, disabling),
    );
  }

  private async disableIn(
    transaction: Transaction,
    userId: string,
    requireLocked: RequireLocked,
    { actor, force }: Disabling,
  ): Promise<OrphanedOrg[] | undefined> {
    if (!(await this.users.disable(transaction, userId))) return undefined;
    const departures = await this.ownership.findDepartures(transaction, userId);
    requireLocked(orgIdsOf(departures));
    const orphaned = requireOtherOwners(departures, force);

    const inviting = departures.filter(({ invites }) => invites);
    const why = { actor, reason: 'inviter_disabled' } as const;
    const revoked = await this.invitations.revokeAll(transaction, userId, inviting, why);
    const about = { actor, userId };
    await this.events.record(
      transaction,
      { ...about, type: 'account.disabled', ...(orphaned.length > 0 && { data: { force: true } }) },
      { ...about, type: 'session.ended', data: { reason: 'account_disabled', all: true } },
      ...revoked,
      ...orphanings(orphaned, { ...about, reason: 'owner_disabled' }),
    );
    return orphaned.map(({ orgId: id }) => ({ id, isDeleted: false }));
  }
}
