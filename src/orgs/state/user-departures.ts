import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import type { NewEvent } from '../../events/event-types.js';
import { type RevocationReason, revocations } from './org-changes.js';
import { InvitationsRepository } from './invitations.repository.js';
import { OrgsRepository } from './orgs.repository.js';
import { type Departure, MembersRepository } from './members.repository.js';
import { isLastOwner } from './policies.js';
import { OnlyOwnerError } from './orgs.errors.js';

interface Departing {
  userId: string;
  departures: readonly Departure[];
  /** allows an organization to be left without an enabled owner */
  force: boolean;
}

export interface OrphanedOrg {
  id: string;
  /** whether it was deleted, since nobody else was a member */
  isDeleted: boolean;
}

/** The caller records the events together with its own, which have the same time. */
interface Consequences {
  orphaned: OrphanedOrg[];
  events: NewEvent[];
}

@Injectable()
export class UserDepartures {
  constructor(
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly orgs: OrgsRepository,
    private readonly env: Env,
  ) {}

  /** @throws OnlyOwnerError */
  async leave(tx: Transaction, actor: Actor, departing: Departing): Promise<Consequences> {
    const { userId, departures, force } = departing;
    const orphaned = requireOtherOwners(departures, force);
    const revoked = await this.revokeInvitations(tx, actor, departing, 'inviter_deleted');
    const abandoned = await this.deleteAbandoned(tx, actor, departures);
    await this.members.deleteOfUser(tx, userId, orgIdsOf(departures));
    const removed = departures.map(({ orgId, revision, role }): NewEvent => ({
      type: 'member.removed',
      actor,
      userId,
      orgId,
      orgRevision: revision,
      data: { role, reason: 'account_deleted' },
    }));
    const ownerless = orphaned.filter(({ hasOtherMember }) => hasOtherMember);
    return {
      orphaned: orphaned.map(({ orgId: id, hasOtherMember }) => ({ id, isDeleted: !hasOtherMember })),
      events: [
        ...removed,
        ...orphanings(ownerless, { actor, userId, reason: 'owner_deleted' }),
        ...revoked,
        ...abandoned,
      ],
    };
  }

  /** @throws OnlyOwnerError */
  async stayDisabled(tx: Transaction, actor: Actor, departing: Departing): Promise<Consequences> {
    const { userId, departures, force } = departing;
    const orphaned = requireOtherOwners(departures, force);
    const revoked = await this.revokeInvitations(tx, actor, departing, 'inviter_disabled');
    return {
      orphaned: orphaned.map(({ orgId: id }) => ({ id, isDeleted: false })),
      events: [...revoked, ...orphanings(orphaned, { actor, userId, reason: 'owner_disabled' })],
    };
  }

  /** Deletes organizations that lose their last member. An owner leaves one only if an operator forces it. */
  private async deleteAbandoned(
    tx: Transaction,
    actor: Actor,
    departures: readonly Departure[],
  ): Promise<NewEvent[]> {
    const abandoned = departures.filter(({ hasOtherMember, isDeleted }) => !hasOtherMember && !isDeleted);
    const now = Date.now();
    await this.orgs.delete(tx, orgIdsOf(abandoned), now, now + this.env.orgRestoreWindow * 1000);
    return abandoned.map(({ orgId, revision: orgRevision, role }) => ({
      type: 'org.deleted',
      actor,
      orgId,
      orgRevision,
      data: role === 'owner' ? { force: true } : {},
    }));
  }

  private async revokeInvitations(
    tx: Transaction,
    actor: Actor,
    { userId, departures }: Departing,
    reason: RevocationReason,
  ): Promise<NewEvent[]> {
    const events: NewEvent[] = [];
    for (const { orgId, revision: orgRevision } of departures.filter(({ isInviter }) => isInviter)) {
      const ended = await this.invitations.revokeOfInviter(tx, orgId, userId);
      const about = { actor, orgId, orgRevision };
      events.push(...revocations(ended, reason).map((event) => Object.assign(event, about)));
    }
    return events;
  }
}

/** @returns the departures that leave no enabled owner, by force @throws OnlyOwnerError */
export function requireOtherOwners(departures: readonly Departure[], force: boolean): Departure[] {
  const orphaned = departures.filter((departure) => !departure.isDeleted && isLastOwner(departure));
  if (orphaned.length > 0 && !force) throw new OnlyOwnerError(orphaned);
  return orphaned;
}

/** One event for each organization, because its admins see it too. */
function orphanings(
  orphaned: readonly Departure[],
  { userId, actor, reason }: { userId: string; actor: Actor; reason: 'owner_disabled' | 'owner_deleted' },
): NewEvent[] {
  return orphaned.map(({ orgId, revision: orgRevision }) => ({
    type: 'org.orphaned',
    actor,
    orgId,
    orgRevision,
    userId,
    data: { reason, force: true },
  }));
}

function orgIdsOf(departures: readonly Departure[]): string[] {
  return departures.map(({ orgId }) => orgId);
}
