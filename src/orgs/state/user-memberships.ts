import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import type { NewEvent } from '../../events/event-types.js';
import { type OrgEvent, type RevocationReason, revocations } from './org-changes.js';
import { InvitationsRepository } from './invitations.repository.js';
import { OrgsRepository } from './orgs.repository.js';
import { type LockedMembership, MembersRepository } from './members.repository.js';
import { isLastOwner } from './policies.js';
import { OnlyOwnerError } from './orgs.errors.js';

interface MembershipChange {
  actor: Actor;
  userId: string;
  memberships: readonly LockedMembership[];
  force: boolean;
}

export interface OrphanedOrg {
  id: string;
  isDeleted: boolean;
}

/** The caller records `events` together with its own, at the same time. */
interface Consequences {
  orphaned: OrphanedOrg[];
  events: NewEvent[];
}

@Injectable()
export class UserMemberships {
  constructor(
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly orgs: OrgsRepository,
    private readonly env: Env,
  ) {}

  async leave(tx: Transaction, change: MembershipChange): Promise<Consequences> {
    const { actor, userId, memberships, force } = change;
    const orphaned = requireOtherOwners(memberships, force);
    const revoked = await this.revokeInvitations(tx, change, 'inviter_deleted');
    const abandoned = await this.deleteAbandoned(tx, change);
    await this.members.delete(tx, userId, orgIdsOf(memberships));
    const removed = memberships.map((membership) => {
      const data = { role: membership.role, reason: 'account_deleted' } as const;
      return eventOf(actor, membership, { type: 'member.removed', userId, data });
    });
    const ownerless = orphaned.filter(({ hasOtherMember }) => hasOtherMember);
    return {
      orphaned: orphaned.map(({ orgId: id, hasOtherMember }) => ({ id, isDeleted: !hasOtherMember })),
      events: [...removed, ...orphanings(change, ownerless, 'owner_deleted'), ...revoked, ...abandoned],
    };
  }

  async stayDisabled(tx: Transaction, change: MembershipChange): Promise<Consequences> {
    const orphaned = requireOtherOwners(change.memberships, change.force);
    const revoked = await this.revokeInvitations(tx, change, 'inviter_disabled');
    return {
      orphaned: orphaned.map(({ orgId: id }) => ({ id, isDeleted: false })),
      events: [...revoked, ...orphanings(change, orphaned, 'owner_disabled')],
    };
  }

  /** An owner leaves an organization without another member only if an operator forces it. */
  private async deleteAbandoned(
    tx: Transaction,
    { actor, memberships }: MembershipChange,
  ): Promise<NewEvent[]> {
    const abandoned = memberships.filter(({ hasOtherMember, isDeleted }) => !hasOtherMember && !isDeleted);
    const now = Date.now();
    await this.orgs.delete(tx, orgIdsOf(abandoned), now, now + this.env.orgRestoreWindow * 1000);
    return abandoned.map((membership) => {
      const data = membership.role === 'owner' ? ({ force: true } as const) : {};
      return eventOf(actor, membership, { type: 'org.deleted', data });
    });
  }

  private async revokeInvitations(
    tx: Transaction,
    { actor, userId, memberships }: MembershipChange,
    reason: RevocationReason,
  ): Promise<NewEvent[]> {
    const events: NewEvent[] = [];
    for (const membership of memberships.filter(({ isInviter }) => isInviter)) {
      const ended = await this.invitations.revokeOfInviter(tx, membership.orgId, userId);
      events.push(...revocations(ended, reason).map((event) => eventOf(actor, membership, event)));
    }
    return events;
  }
}

/** Returns the memberships that leave no enabled owner. @throws OnlyOwnerError without `force` */
export function requireOtherOwners(
  memberships: readonly LockedMembership[],
  force: boolean,
): LockedMembership[] {
  const orphaned = memberships.filter((membership) => !membership.isDeleted && isLastOwner(membership));
  if (orphaned.length > 0 && !force) throw new OnlyOwnerError(orphaned);
  return orphaned;
}

export function suspensionEvents(
  type: 'member.suspended' | 'member.resumed',
  { actor, userId, memberships }: Omit<MembershipChange, 'force'>,
): NewEvent[] {
  return memberships
    .filter(({ isFactorRequired }) => isFactorRequired)
    .map((membership) => eventOf(actor, membership, { type, userId, data: { reason: 'second_factor' } }));
}

/** One event per organization, because its admins read it as well. */
function orphanings(
  { actor, userId }: MembershipChange,
  orphaned: readonly LockedMembership[],
  reason: 'owner_disabled' | 'owner_deleted',
): NewEvent[] {
  const data = { reason, force: true } as const;
  return orphaned.map((membership) => eventOf(actor, membership, { type: 'org.orphaned', userId, data }));
}

function eventOf(
  actor: Actor,
  { orgId, revision: orgRevision }: LockedMembership,
  event: OrgEvent,
): NewEvent {
  return Object.assign(event, { actor, orgId, orgRevision });
}

function orgIdsOf(memberships: readonly LockedMembership[]): string[] {
  return memberships.map(({ orgId }) => orgId);
}
