import { Injectable } from '@nestjs/common';
import type { Role } from '../../access/role.js';
import { Env } from '../../config/env.js';
import { OK, type OkResult } from '../../http/ok.responses.js';
import { additionsUpTo } from '../invitations/additions.js';
import { revocations } from '../invitations/invitation-events.js';
import { invitableRoles } from '../invitations/invitation-policy.js';
import { InvitationsRepository } from '../invitations/invitations.repository.js';
import { MembershipChanges } from './membership-changes.js';
import { MembershipFactsRepository } from './membership-facts.repository.js';
import { requireAddition, requireChange, requireRemoval } from './membership-policy.js';
import { MemberNotFoundError, NoMoreAdditionsError } from './memberships.errors.js';
import { MembersRepository } from './members.repository.js';
import type { Write } from '../../requests/write.js';
import type { MembershipResult } from './dto/member.responses.js';

/** Every change checks the actor's role again: the guard's check can be stale by then. */
@Injectable()
export class MembersService {
  constructor(
    private readonly facts: MembershipFactsRepository,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly changes: MembershipChanges,
    private readonly env: Env,
  ) {}

  add(write: Write, orgId: string, email: string, role: Role): Promise<MembershipResult> {
    const { maxOrgsPerUser, addMembers } = this.env;
    const share = additionsUpTo(maxOrgsPerUser);
    const key = { orgId, actorId: write.actor.id, email };
    return this.changes.run(write, this.facts.addition, key, {
      decide: (facts) => requireAddition(facts, addMembers === 'verified'),
      write: (transaction, userId) =>
        this.members.insert(transaction, { orgId, userId, role, joinedAt: Date.now() }, share),
      refusal: () => new NoMoreAdditionsError(share),
      event: (userId) => ({ type: 'member.added', userId, data: { role, via: 'added' } }),
      follow: async (transaction, { isInvited }) => {
        const ended = isInvited ? await this.invitations.revokeOfEmail(transaction, orgId, email) : [];
        return revocations(ended, 'member_added');
      },
      answer: (userId) => ({ member: { userId, role } }),
    });
  }

  changeRole(write: Write, orgId: string, userId: string, role: Role): Promise<MembershipResult> {
    const key = { orgId, actorId: write.actor.id, targetId: userId };
    return this.changes.run(write, this.facts.change, key, {
      decide: (facts) => requireChange(facts, role, write.actor),
      write: (transaction) => this.members.updateRole(transaction, orgId, userId, role),
      refusal: () => new MemberNotFoundError(),
      event: (from) =>
        from === role ? undefined : { type: 'member.role_changed', userId, data: { from, to: role } },
      follow: async (transaction, { targetInvites }) => {
        const allowed = invitableRoles(role);
        const ended = targetInvites
          ? await this.invitations.revokeOfInviter(transaction, orgId, userId, allowed)
          : [];
        return revocations(ended, 'inviter_demoted');
      },
      answer: () => ({ member: { userId, role } }),
    });
  }

  remove(write: Write, orgId: string, userId: string): Promise<OkResult> {
    const reason = reasonOf(write, userId);
    const key = { orgId, actorId: write.actor.id, targetId: userId };
    return this.changes.run(write, this.facts.change, key, {
      decide: (facts) => requireRemoval(facts, write.actor),
      write: (transaction) => this.members.delete(transaction, orgId, userId),
      refusal: () => new MemberNotFoundError(),
      event: (from) => ({ type: 'member.removed', userId, data: { role: from, reason } }),
      follow: async (transaction, { targetInvites }) => {
        const ended = targetInvites
          ? await this.invitations.revokeOfInviter(transaction, orgId, userId, [])
          : [];
        return revocations(ended, `inviter_${reason}`);
      },
      answer: () => OK,
    });
  }
}

function reasonOf({ actor }: Write, userId: string): 'removed' | 'left' {
  return actor.id === userId ? 'left' : 'removed';
}
