import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import type { NewEvent } from '../../events/event-types.js';
import { type OrgEvent, type RevocationReason, revocations } from './org-changes.js';
import { InvitationsRepository } from './invitations.repository.js';
import { OrgsRepository } from './orgs.repository.js';
import { type Departure, MembersRepository } from './members.repository.js';
import { isLastOwner } from './policies.js';
import { OnlyOwnerError } from './orgs.errors.js';

interface Departing {
  actor: Actor;
  userId: string;
  departures: readonly Departure[];
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
export class UserDepartures {
  constructor(
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly orgs: OrgsRepository,
    private readonly env: Env,
  ) {}

  async leave(tx: Transaction, departing: Departing): Promise<Consequences> {
    const { actor, userId, departures, force } = departing;
    const orphaned = requireOtherOwners(departures, force);
    const revoked = await this.revokeInvitations(tx, departing, 'inviter_deleted');
    const abandoned = await this.deleteAbandoned(tx, departing);
    await this.members.delete(tx, userId, orgIdsOf(departures));
    const removed = departures.map((departure) => {
      const data = { role: departure.role, reason: 'account_deleted' } as const;
      return eventOf(actor, departure, { type: 'member.removed', userId, data });
    });
    const ownerless = orphaned.filter(({ hasOtherMember }) => hasOtherMember);
    return {
      orphaned: orphaned.map(({ orgId: id, hasOtherMember }) => ({ id, isDeleted: !hasOtherMember })),
      events: [...removed, ...orphanings(departing, ownerless, 'owner_deleted'), ...revoked, ...abandoned],
    };
  }

  async stayDisabled(tx: Transaction, departing: Departing): Promise<Consequences> {
    const orphaned = requireOtherOwners(departing.departures, departing.force);
    const revoked = await this.revokeInvitations(tx, departing, 'inviter_disabled');
    return {
      orphaned: orphaned.map(({ orgId: id }) => ({ id, isDeleted: false })),
      events: [...revoked, ...orphanings(departing, orphaned, 'owner_disabled')],
    };
  }

  /** An owner leaves an organization without another member only if an operator forces it. */
  private async deleteAbandoned(tx: Transaction, { actor, departures }: Departing): Promise<NewEvent[]> {
    const abandoned = departures.filter(({ hasOtherMember, isDeleted }) => !hasOtherMember && !isDeleted);
    const now = Date.now();
    await this.orgs.delete(tx, orgIdsOf(abandoned), now, now + this.env.orgRestoreWindow * 1000);
    return abandoned.map((departure) => {
      const data = departure.role === 'owner' ? ({ force: true } as const) : {};
      return eventOf(actor, departure, { type: 'org.deleted', data });
    });
  }

  private async revokeInvitations(
    tx: Transaction,
    { actor, userId, departures }: Departing,
    reason: RevocationReason,
  ): Promise<NewEvent[]> {
    const events: NewEvent[] = [];
    for (const departure of departures.filter(({ isInviter }) => isInviter)) {
      const ended = await this.invitations.revokeOfInviter(tx, departure.orgId, userId);
      events.push(...revocations(ended, reason).map((event) => eventOf(actor, departure, event)));
    }
    return events;
  }
}

/** Returns the departures that leave no enabled owner. @throws OnlyOwnerError without `force` */
export function requireOtherOwners(departures: readonly Departure[], force: boolean): Departure[] {
  const orphaned = departures.filter((departure) => !departure.isDeleted && isLastOwner(departure));
  if (orphaned.length > 0 && !force) throw new OnlyOwnerError(orphaned);
  return orphaned;
}

export function suspensionEvents(
  type: 'member.suspended' | 'member.resumed',
  { actor, userId, departures }: Omit<Departing, 'force'>,
): NewEvent[] {
  return departures
    .filter(({ isFactorRequired }) => isFactorRequired)
    .map((departure) => eventOf(actor, departure, { type, userId, data: { reason: 'second_factor' } }));
}

/** One event per organization, because its admins read it as well. */
function orphanings(
  { actor, userId }: Departing,
  orphaned: readonly Departure[],
  reason: 'owner_disabled' | 'owner_deleted',
): NewEvent[] {
  const data = { reason, force: true } as const;
  return orphaned.map((departure) => eventOf(actor, departure, { type: 'org.orphaned', userId, data }));
}

function eventOf(actor: Actor, { orgId, revision: orgRevision }: Departure, event: OrgEvent): NewEvent {
  return Object.assign(event, { actor, orgId, orgRevision });
}

function orgIdsOf(departures: readonly Departure[]): string[] {
  return departures.map(({ orgId }) => orgId);
}
