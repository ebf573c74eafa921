import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/actor.js';
import type { Role } from '../../access/role.js';
import { Env } from '../../config/env.js';
import { OK, type OkResult } from '../../http/ok.responses.js';
import { ValidationProblem } from '../../problems/problem.js';
import type { Versioned } from '../../requests/entity-tags.js';
import type { Write } from '../../requests/write.js';
import { additionsUpTo } from '../invitations/additions.js';
import { revocations } from '../invitations/invitation-events.js';
import { invitableRoles } from '../invitations/invitation-policy.js';
import { InvitationsRepository } from '../invitations/invitations.repository.js';
import { OrgChanges, type OrgEvent, RefusedByDatabaseError } from '../org-changes.js';
import { OrgDeletion } from '../org-deletion.js';
import type { MembershipResult } from './members.responses.js';
import { type ChangeFacts, MemberFactsRepository } from './member-facts.repository.js';
import {
  requireAddition,
  requireChange,
  requireLeaving,
  requireRemoval,
  requireTransfer,
} from './member-policy.js';
import { MemberNotFoundError, NoMoreAdditionsError } from './members.errors.js';
import { MembersRepository } from './members.repository.js';

@Injectable()
export class MembersService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly facts: MemberFactsRepository,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly deletion: OrgDeletion,
    private readonly env: Env,
  ) {}

  add(write: Write, orgId: string, email: string, role: Role): Promise<Versioned<MembershipResult>> {
    const { maxOrgsPerUser, addMembers } = this.env;
    const limit = additionsUpTo(maxOrgsPerUser);
    return this.changes.run(
      write,
      {
        orgId,
        lookup: this.facts.addition,
        key: { orgId, actorId: write.actor.id, email },
        decide: (facts) => requireAddition(facts, addMembers === 'verified'),
      },
      async ({ transaction, facts, record }, userId) => {
        const member = { orgId, userId, role, joinedAt: Date.now() };
        if (!(await this.members.insert(transaction, member, limit))) {
          throw new RefusedByDatabaseError(new NoMoreAdditionsError(limit));
        }
        const revoked = facts.isInvited
          ? await this.invitations.revokeOfEmail(transaction, orgId, email)
          : [];
        await record(
          { type: 'member.added', userId, data: { role, via: 'added' } },
          ...revocations(revoked, 'member_added'),
        );
        return { member: { userId, role } };
      },
    );
  }

  changeRole(write: Write, orgId: string, userId: string, role: Role): Promise<Versioned<MembershipResult>> {
    return this.changes.run(
      write,
      {
        orgId,
        lookup: this.facts.change,
        key: { orgId, actorId: write.actor.id, targetId: userId },
        decide: (facts) => requireChange(facts, role, write.actor),
      },
      async ({ transaction, facts, record }, from) => {
        if (!(await this.members.updateRole(transaction, orgId, userId, role))) {
          throw new RefusedByDatabaseError(new MemberNotFoundError());
        }
        const revoked =
          facts.isTargetInviter && !write.dryRun
            ? await this.invitations.revokeOfInviter(transaction, orgId, userId, invitableRoles(role))
            : [];
        const changed: OrgEvent = { type: 'member.role_changed', userId, data: { from, to: role } };
        await record(...(from === role ? [] : [changed]), ...revocations(revoked, 'inviter_demoted'));
        return { member: { userId, role } };
      },
    );
  }

  /** Admins can remove themselves, too. */
  remove(write: Write, orgId: string, userId: string): Promise<Versioned<OkResult>> {
    return this.end(write, orgId, userId, requireRemoval);
  }

  leave(write: Write, orgId: string): Promise<Versioned<OkResult>> {
    return this.end(write, orgId, write.actor.id, requireLeaving);
  }

  /** Makes a member an owner; the actor becomes an admin, or leaves. */
  transfer(write: Write, orgId: string, userId: string, leaves: boolean): Promise<Versioned<OkResult>> {
    const { id: actorId } = write.actor;
    if (userId === actorId) {
      throw new ValidationProblem([{ field: 'userId', message: 'must be another member' }]);
    }
    return this.changes.run(
      write,
      {
        orgId,
        lookup: this.facts.change,
        key: { orgId, actorId, targetId: userId },
        decide: requireTransfer,
      },
      async ({ transaction, record }, from) => {
        const events: OrgEvent[] = [];
        if (from !== 'owner') {
          await this.members.updateRole(transaction, orgId, userId, 'owner');
          events.push({ type: 'member.role_changed', userId, data: { from, to: 'owner' } });
        }
        if (leaves) {
          await this.members.delete(transaction, orgId, actorId);
          const revoked = write.dryRun
            ? []
            : await this.invitations.revokeOfInviter(transaction, orgId, actorId, []);
          events.push({ type: 'member.removed', userId: actorId, data: { role: 'owner', reason: 'left' } });
          events.push(...revocations(revoked, 'inviter_left'));
        } else {
          await this.members.updateRole(transaction, orgId, actorId, 'admin');
          events.push({
            type: 'member.role_changed',
            userId: actorId,
            data: { from: 'owner', to: 'admin' },
          });
        }
        await record(...events);
        return OK;
      },
    );
  }

  private end(
    write: Write,
    orgId: string,
    userId: string,
    require: (facts: ChangeFacts, actor: UserActor) => Role,
  ): Promise<Versioned<OkResult>> {
    const { actor } = write;
    const reason = actor.id === userId ? 'left' : 'removed';
    return this.changes.run(
      write,
      {
        orgId,
        lookup: this.facts.change,
        key: { orgId, actorId: actor.id, targetId: userId },
        decide: (facts) => require(facts, actor),
      },
      async ({ transaction, facts, record }, role) => {
        if (!(await this.members.delete(transaction, orgId, userId))) {
          throw new RefusedByDatabaseError(new MemberNotFoundError());
        }
        const revoked =
          facts.isTargetInviter && !write.dryRun
            ? await this.invitations.revokeOfInviter(transaction, orgId, userId, [])
            : [];
        // Without an owner the last member may go, and no one could ever join or manage the organization again.
        const isAbandoned = !facts.hasOtherOwner && (await this.members.isEmpty(transaction, orgId));
        const deletion = isAbandoned && (await this.deletion.delete(transaction, orgId, write.dryRun));
        await record(
          { type: 'member.removed', userId, data: { role, reason } },
          ...revocations(revoked, `inviter_${reason}`),
          ...(deletion ? deletion.events : []),
        );
        return OK;
      },
    );
  }
}
