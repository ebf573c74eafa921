import { Injectable } from '@nestjs/common';
import type { UserActor } from '../access/actor.js';
import type { Role } from '../access/role.js';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transaction.js';
import { InvitationsRepository } from '../memberships/invitations.repository.js';
import { MembershipChanges } from '../memberships/membership-changes.js';
import {
  invitableRoles,
  requireAddition,
  requireChange,
  requireRemoval,
} from '../memberships/membership-policy.js';
import { MemberNotFoundError, UserHasTooManyOrgsError } from '../memberships/memberships.errors.js';
import { MembersRepository } from '../memberships/members.repository.js';
import type { Membership } from './dto/member.responses.js';

/** Every change checks the actor's role again: the guard's check can be stale by then. */
@Injectable()
export class MembersService {
  constructor(
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly changes: MembershipChanges,
    private readonly env: Env,
  ) {}

  async add(orgId: string, actor: UserActor, email: string, role: Role): Promise<Membership> {
    const { maxOrgsPerUser } = this.env;
    const key = { orgId, actorId: actor.id, email };
    const userId = await this.changes.run(this.members.additionFacts, key, actor, {
      decide: requireAddition,
      write: (transaction, id) =>
        this.members.insert(transaction, { orgId, userId: id, role, joinedAt: Date.now() }, maxOrgsPerUser),
      refusal: () => new UserHasTooManyOrgsError(maxOrgsPerUser),
      event: (id) => ({ type: 'member.added', userId: id, data: { role, via: 'added' } }),
    });
    return { userId, role };
  }

  async changeRole(orgId: string, actor: UserActor, userId: string, role: Role): Promise<Membership> {
    const key = { orgId, actorId: actor.id, targetId: userId };
    await this.changes.run(this.members.changeFacts, key, actor, {
      decide: (facts) => requireChange(facts, role),
      write: async (transaction, _, { hasInvitations }) => {
        if (hasInvitations) await this.endInvitations(transaction, orgId, userId, role);
        return this.members.updateRole(transaction, orgId, userId, role);
      },
      refusal: () => new MemberNotFoundError(),
      event: (from) =>
        from === role ? undefined : { type: 'member.role_changed', userId, data: { from, to: role } },
    });
    return { userId, role };
  }

  async remove(orgId: string, actor: UserActor, userId: string): Promise<{ ok: true }> {
    const key = { orgId, actorId: actor.id, targetId: userId };
    await this.changes.run(this.members.changeFacts, key, actor, {
      decide: requireRemoval,
      write: async (transaction, _, { hasInvitations }) => {
        if (hasInvitations) await this.endInvitations(transaction, orgId, userId, null);
        return this.members.delete(transaction, orgId, userId);
      },
      refusal: () => new MemberNotFoundError(),
      event: (from) => ({
        type: 'member.removed',
        userId,
        data: { role: from, reason: reasonOf(actor, userId) },
      }),
    });
    return { ok: true };
  }

  /** Of those that a member of the new role may not send. */
  private endInvitations(
    transaction: Transaction,
    orgId: string,
    userId: string,
    role: Role | null,
  ): Promise<void> {
    return this.invitations.revokeOfInviter(transaction, orgId, userId, invitableRoles(role));
  }
}

function reasonOf(actor: UserActor, userId: string): 'removed' | 'left' {
  return actor.id === userId ? 'left' : 'removed';
}
