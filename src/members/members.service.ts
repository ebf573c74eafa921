import { Injectable } from '@nestjs/common';
import type { UserActor } from '../access/actor.js';
import type { Role } from '../access/role.js';
import { Env } from '../config/env.js';
import { revocations } from '../memberships/invitation-events.js';
import { invitableRoles } from '../memberships/invitation-policy.js';
import { InvitationsRepository } from '../memberships/invitations.repository.js';
import { MembershipChanges } from '../memberships/membership-changes.js';
import { requireAddition, requireChange, requireRemoval } from '../memberships/membership-policy.js';
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
    const { maxOrgsPerUser, addMembers } = this.env;
    const key = { orgId, actorId: actor.id, email };
    const added = await this.changes.run(this.members.additionFacts, key, actor, {
      decide: (facts) => ({
        userId: requireAddition(facts, addMembers === 'verified'),
        isInvited: facts.isInvited,
      }),
      write: (transaction, { userId }) =>
        this.members.insert(transaction, { orgId, userId, role, joinedAt: Date.now() }, maxOrgsPerUser),
      refusal: () => new UserHasTooManyOrgsError(maxOrgsPerUser),
      event: ({ userId }) => ({ type: 'member.added', userId, data: { role, via: 'added' } }),
      follow: async (transaction, { isInvited }) => {
        const ended = isInvited ? await this.invitations.revokeOfEmail(transaction, orgId, email) : [];
        return revocations(ended, 'member_added');
      },
    });
    return { userId: added.userId, role };
  }

  async changeRole(orgId: string, actor: UserActor, userId: string, role: Role): Promise<Membership> {
    const key = { orgId, actorId: actor.id, targetId: userId };
    await this.changes.run(this.members.changeFacts, key, actor, {
      decide: (facts) => ({ from: requireChange(facts, role), invites: facts.targetInvites }),
      write: (transaction) => this.members.updateRole(transaction, orgId, userId, role),
      refusal: () => new MemberNotFoundError(),
      event: ({ from }) =>
        from === role ? undefined : { type: 'member.role_changed', userId, data: { from, to: role } },
      follow: async (transaction, { invites }) => {
        const allowed = invitableRoles(role);
        const ended = invites
          ? await this.invitations.revokeOfInviter(transaction, orgId, userId, allowed)
          : [];
        return revocations(ended, 'inviter_demoted');
      },
    });
    return { userId, role };
  }

  async remove(orgId: string, actor: UserActor, userId: string): Promise<{ ok: true }> {
    const reason = reasonOf(actor, userId);
    const key = { orgId, actorId: actor.id, targetId: userId };
    await this.changes.run(this.members.changeFacts, key, actor, {
      decide: (facts) => ({ from: requireRemoval(facts), invites: facts.targetInvites }),
      write: (transaction) => this.members.delete(transaction, orgId, userId),
      refusal: () => new MemberNotFoundError(),
      event: ({ from }) => ({ type: 'member.removed', userId, data: { role: from, reason } }),
      follow: async (transaction, { invites }) => {
        const ended = invites ? await this.invitations.revokeOfInviter(transaction, orgId, userId, []) : [];
        return revocations(ended, `inviter_${reason}`);
      },
    });
    return { ok: true };
  }
}

function reasonOf(actor: UserActor, userId: string): 'removed' | 'left' {
  return actor.id === userId ? 'left' : 'removed';
}
