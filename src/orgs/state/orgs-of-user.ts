import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import type { NewEvent } from '../../events/event-types.js';
import { type ExportedRows, UserParts } from '../../users/user-parts.js';
import type { Consequences, Decide, UserDeparture, UserTies } from '../../users/user-ties.js';
import type { UserProfile } from '../../users/users.repository.js';
import { revocations } from './invitation-events.js';
import { InvitationsRepository } from './invitations.repository.js';
import { OrgChanges } from './org-changes.js';
import { OrgsRepository } from './orgs.repository.js';
import { orgIdsOf, orphanings, requireOtherOwners } from './owner-rule.js';
import { Memberships } from './members.memberships.js';
import { type Departure, MembersRepository } from './members.repository.js';

interface Departing {
  userId: string;
  departures: readonly Departure[];
  /** those that have no other enabled owner */
  orphaned: readonly Departure[];
}

/** Lets users go whom every organization can do without, or by force, and exports the organizations of a user. */
@Injectable()
export class OrgsOfUser implements UserTies, ExportedRows, OnModuleInit {
  readonly tables = ['members'];

  constructor(
    private readonly members: MembersRepository,
    private readonly memberships: Memberships,
    private readonly invitations: InvitationsRepository,
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
    private readonly parts: UserParts,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    this.parts.ties.register('organizations', this);
    this.parts.exported.register('organizations', this);
  }

  findOrgIdsOf(userId: string): Promise<string[]> {
    return this.members.findOrgIds(userId);
  }

  /** Locks even those where the user is no owner: an owner may be making the user one. */
  run<T>(
    actor: Actor,
    userId: string,
    work: (transaction: Transaction, decide: Decide) => Promise<T>,
  ): Promise<T> {
    return this.changes.inOrgsOf({ actor }, userId, (transaction, findDepartures) =>
      work(transaction, async (force) => {
        const departures = await findDepartures();
        const orphaned = requireOtherOwners(departures, force);
        return this.departureOf(transaction, { userId, departures, orphaned });
      }),
    );
  }

  async *of(user: UserProfile): AsyncGenerator<object> {
    for (const { joinedAt, deletedAt, ...org } of await this.memberships.findAllOrgs(user.id)) {
      const deletion = deletedAt === null ? {} : { deletedAt: new Date(deletedAt).toISOString() };
      yield { ...org, joinedAt: new Date(joinedAt).toISOString(), ...deletion };
    }
  }

  private departureOf(transaction: Transaction, departing: Departing): UserDeparture {
    return {
      leave: (actor) => this.leave(transaction, departing, actor),
      stayDisabled: (actor) => this.stayDisabled(transaction, departing, actor),
    };
  }

  private async leave(
    transaction: Transaction,
    { userId, departures, orphaned }: Departing,
    actor: Actor,
  ): Promise<Consequences> {
    const about = { actor, userId };
    const revoked = await this.revokeInvitations(
      transaction,
      { userId, departures },
      'inviter_deleted',
      actor,
    );
    const abandoned = await this.deleteAbandoned(transaction, departures, actor);
    await this.members.deleteOfUser(transaction, userId, orgIdsOf(departures));
    const removed = departures.map(({ orgId, revision, role }): NewEvent => ({
      ...about,
      type: 'member.removed',
      orgId,
      orgRevision: revision,
      data: { role, reason: 'account_deleted' },
    }));
    const ownerless = orphaned.filter(({ hasOtherMember }) => hasOtherMember);
    return {
      orphaned: orphaned.map(({ orgId: id, hasOtherMember }) => ({ id, isDeleted: !hasOtherMember })),
      events: [
        ...removed,
        ...orphanings(ownerless, { ...about, reason: 'owner_deleted' }),
        ...revoked,
        ...abandoned,
      ],
    };
  }

  private async stayDisabled(
    transaction: Transaction,
    { userId, departures, orphaned }: Departing,
    actor: Actor,
  ): Promise<Consequences> {
    const revoked = await this.revokeInvitations(
      transaction,
      { userId, departures },
      'inviter_disabled',
      actor,
    );
    return {
      orphaned: orphaned.map(({ orgId: id }) => ({ id, isDeleted: false })),
      events: [...revoked, ...orphanings(orphaned, { actor, userId, reason: 'owner_disabled' })],
    };
  }

  /** Deletes organizations that lose their last member. An owner leaves one only if an operator forces it. */
  private async deleteAbandoned(
    transaction: Transaction,
    departures: readonly Departure[],
    actor: Actor,
  ): Promise<NewEvent[]> {
    const abandoned = departures.filter(({ hasOtherMember, isDeleted }) => !hasOtherMember && !isDeleted);
    const now = Date.now();
    await this.orgs.delete(transaction, orgIdsOf(abandoned), now, now + this.env.orgRestoreWindow * 1000);
    return abandoned.map(({ orgId, revision: orgRevision, role }) => ({
      type: 'org.deleted',
      actor,
      orgId,
      orgRevision,
      data: role === 'owner' ? { force: true } : {},
    }));
  }

  private async revokeInvitations(
    transaction: Transaction,
    { userId, departures }: Pick<Departing, 'userId' | 'departures'>,
    reason: 'inviter_deleted' | 'inviter_disabled',
    actor: Actor,
  ): Promise<NewEvent[]> {
    const events: NewEvent[] = [];
    for (const { orgId, revision: orgRevision } of departures.filter(({ isInviter }) => isInviter)) {
      const ended = await this.invitations.revokeOfInviter(transaction, orgId, userId, []);
      const about = { actor, orgId, orgRevision };
      events.push(...revocations(ended, reason).map((event) => Object.assign(event, about)));
    }
    return events;
  }
}
