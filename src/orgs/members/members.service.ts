import { Injectable } from '@nestjs/common';
import type { Actor, Role } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { type Transaction, Unchanged } from '../../database/transactions/transactions.js';
import type { OkResponse } from '../../http/fields.js';
import { Problem, RefusedError, ValidationProblem } from '../../problems/problem.js';
import type { Versioned } from '../../requests/entity-tags.js';
import type { AnyWrite, Write } from '../../requests/write.js';
import { type LockedUser, UserChanges } from '../../users/user-changes.js';
import {
  additionsUpTo,
  canInvite,
  requireAddition,
  requireChange,
  requireChangeOf,
  requireLeaving,
  requireRemoval,
  requireRemovalOf,
  requireTransfer,
  suspension,
} from '../state/policies.js';
import {
  type LockedOrg,
  OrgChanges,
  type OrgEvent,
  type OrgOutcome,
  revocations,
} from '../state/org-changes.js';
import { OrgDeletion } from '../state/org-deletion.js';
import { InvitationsRepository } from '../state/invitations.repository.js';
import type { MemberRoleResponse } from './members.responses.js';
import { additionOf, type MemberPair, MembersRepository, pairOf } from '../state/members.repository.js';

/** A member whom an operator changes. */
export interface OperatedMember {
  orgId: string;
  userId: string;
  actor: Actor;
}

export interface NewOwner extends OperatedMember {
  force: boolean;
}

@Injectable()
export class MembersService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly deletion: OrgDeletion,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly users: UserChanges,
    private readonly env: Env,
  ) {}

  add(write: Write, orgId: string, email: string, role: Role): Promise<Versioned<MemberRoleResponse>> {
    const { maxOrgsPerUser, addMembers } = this.env;
    const limit = additionsUpTo(maxOrgsPerUser);
    return this.changes.inOrg(write, orgId, additionOf(email), async (tx, org, facts) => {
      const userId = requireAddition(facts, addMembers === 'verified');

      const member = { orgId, userId, role, joinedAt: Date.now() };
      if (!(await this.members.insert(tx, member, limit))) {
        if (!(await this.users.raise(tx, write.actor, userId))) throw new Problem('user_not_found');
        throw new Problem('user_has_too_many_orgs', {
          detail: `The user belongs to ${limit} or more organizations and must join others by invitation. Send one.`,
        });
      }
      const suspended = await this.members.suspensionOf(tx, org, userId);
      const revoked = facts.isInvited ? await this.invitations.revokeOfEmail(tx, orgId, email) : [];
      await org.record(
        { type: 'member.added', userId, data: { role, via: 'added', ...suspended } },
        ...revocations(revoked, 'member_added'),
      );
      return { member: { userId, role } };
    });
  }

  changeRole(
    write: Write,
    orgId: string,
    userId: string,
    role: Role,
  ): Promise<Versioned<MemberRoleResponse>> {
    const require = (facts: MemberPair): Role => requireChange(facts, role, write.actor);
    return this.setRole(write, { orgId, userId, actor: write.actor }, role, require);
  }

  /** @throws org_not_found, member_not_found, member_disabled, last_owner, operator_protected */
  changeRoleByOperator(member: OperatedMember, role: Role): Promise<OrgOutcome<MemberRoleResponse>> {
    const { actor } = member;
    return this.setRole({ actor }, member, role, (facts) => requireChangeOf(facts, role));
  }

  remove(write: Write, orgId: string, userId: string): Promise<Versioned<OkResponse>> {
    const { actor } = write;
    return this.end(write, { orgId, userId, actor }, (facts) => requireRemoval(facts, actor));
  }

  /** @throws org_not_found, member_not_found, last_owner, operator_protected */
  removeByOperator(member: OperatedMember): Promise<OrgOutcome<OkResponse>> {
    const { actor } = member;
    return this.end({ actor }, member, requireRemovalOf);
  }

  leave(write: Write, orgId: string): Promise<Versioned<OkResponse>> {
    const { actor } = write;
    const require = (facts: MemberPair): Role => requireLeaving(facts, actor);
    return this.end(write, { orgId, userId: actor.id, actor }, require, true);
  }

  transfer(write: Write, orgId: string, userId: string, leaves: boolean): Promise<Versioned<OkResponse>> {
    const { id: actorId } = write.actor;
    if (userId === actorId) {
      throw new ValidationProblem([{ field: 'userId', message: 'must be another member' }]);
    }
    return this.changes.inOrg(write, orgId, pairOf(userId), async (tx, org, facts) => {
      const from = requireTransfer(facts);
      const events: OrgEvent[] = [];
      if (from !== 'owner') {
        await this.members.updateRole(tx, orgId, userId, 'owner');
        const data = { from, to: 'owner', ...suspension(org, facts.lacksTargetFactor) } as const;
        events.push({ type: 'member.role_changed', userId, data });
      }
      if (leaves) {
        await this.members.delete(tx, actorId, [orgId]);
        const revoked = write.dryRun ? [] : await this.invitations.revokeOfInviter(tx, orgId, actorId);
        events.push({ type: 'member.removed', userId: actorId, data: { role: 'owner', reason: 'left' } });
        events.push(...revocations(revoked, 'inviter_left'));
      } else {
        await this.members.updateRole(tx, orgId, actorId, 'admin');
        events.push({ type: 'member.role_changed', userId: actorId, data: { from: 'owner', to: 'admin' } });
      }
      await org.record(...events);
      return { ok: true };
    });
  }

  /** @throws org_not_found, RefusedError, user_has_too_many_orgs, operator_protected */
  makeOwner({ orgId, userId, actor, force }: NewOwner): Promise<OrgOutcome<MemberRoleResponse>> {
    const answer = { member: { userId, role: 'owner' } } as const;
    return this.changes.inOrg({ actor }, orgId, pairOf(userId), async (tx, org, facts) => {
      const from = facts.targetRole;
      if (from === 'owner') return new Unchanged(answer);
      const user = await this.users.raise(tx, actor, userId);
      if (!user) throw new Problem('org_not_found');
      if (user.disabledAt !== null) throw new RefusedError('the user is disabled', 'member_disabled');
      if (from === null) {
        if (!force)
          throw new RefusedError('the user is not a member of the organization', 'member_not_found');
        await this.joinAsOwner(tx, org, user);
      } else {
        await this.members.updateRole(tx, orgId, userId, 'owner');
        const data = { from, to: 'owner', ...suspension(org, user.secondFactorAt === null) } as const;
        await org.record({ type: 'member.role_changed', userId, data });
      }
      return answer;
    });
  }

  private setRole(
    write: AnyWrite,
    { orgId, userId, actor }: OperatedMember,
    role: Role,
    require: (facts: MemberPair) => Role,
  ): Promise<OrgOutcome<MemberRoleResponse>> {
    return this.changes.inOrg(write, orgId, factsOf(actor, userId), async (tx, org, facts) => {
      if (actor.kind === 'operator') await this.users.raise(tx, actor, userId);
      const from = require(facts);
      const answer = { member: { userId, role } };
      if (from === role) return new Unchanged(answer);

      await this.members.updateRole(tx, orgId, userId, role);
      const losesInvitations = canInvite(from) && !canInvite(role) && !isDryRun(write);
      const revoked = losesInvitations ? await this.invitations.revokeOfInviter(tx, orgId, userId) : [];
      await org.record(
        {
          type: 'member.role_changed',
          userId,
          data: { from, to: role, ...suspension(org, facts.lacksTargetFactor) },
        },
        ...revocations(revoked, 'inviter_demoted'),
      );
      return answer;
    });
  }

  private end(
    write: AnyWrite,
    { orgId, userId, actor }: OperatedMember,
    require: (facts: MemberPair) => Role,
    evenSuspended = false,
  ): Promise<OrgOutcome<OkResponse>> {
    const reason = actor.kind === 'user' && actor.id === userId ? 'left' : 'removed';
    const work = async (tx: Transaction, org: LockedOrg, facts: MemberPair): Promise<OkResponse> => {
      if (actor.kind === 'operator') await this.users.raise(tx, actor, userId);
      const role = require(facts);

      await this.members.delete(tx, userId, [orgId]);
      const losesInvitations = canInvite(role) && !isDryRun(write);
      const revoked = losesInvitations ? await this.invitations.revokeOfInviter(tx, orgId, userId) : [];
      // An organization that loses its last member without an owner could never be joined or managed again.
      const { events } = facts.hasOtherMember
        ? { events: [] }
        : await this.deletion.delete(tx, orgId, isDryRun(write));
      await org.record(
        { type: 'member.removed', userId, data: { role, reason } },
        ...revocations(revoked, `inviter_${reason}`),
        ...events,
      );
      return { ok: true };
    };
    return this.changes.inOrg(write, orgId, factsOf(actor, userId), work, { evenSuspended });
  }

  private async joinAsOwner(tx: Transaction, org: LockedOrg, user: LockedUser): Promise<void> {
    const { maxOrgsPerUser } = this.env;
    const { id: userId, email } = user;
    const member = { orgId: org.id, userId, role: 'owner', joinedAt: Date.now() } as const;
    if (!(await this.members.insert(tx, member, maxOrgsPerUser))) {
      throw new Problem('user_has_too_many_orgs', {
        detail: `The user belongs to ${maxOrgsPerUser} organizations, the maximum for one user.`,
      });
    }
    const ended = await this.invitations.revokeOfEmail(tx, org.id, email);
    const data = {
      role: 'owner',
      via: 'added',
      force: true,
      ...suspension(org, user.secondFactorAt === null),
    } as const;
    await org.record({ type: 'member.added', userId, data }, ...revocations(ended, 'member_added'));
  }
}

const isDryRun = (write: AnyWrite): boolean => write.kind === 'request' && write.dryRun;

/** An operator is no other member. */
function factsOf(actor: Actor, userId: string): ReturnType<typeof pairOf> {
  return pairOf(userId, actor.kind === 'user' ? actor.id : userId);
}
