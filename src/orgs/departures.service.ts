import { Injectable } from '@nestjs/common';
import type { UserActor } from '../access/actor.js';
import type { Role } from '../access/role.js';
import type { Transaction } from '../database/transaction.js';
import { EventsRepository } from '../record/events.repository.js';
import type { NewEvent } from '../record/new-event.js';
import { OK, type OkResult } from '../http/ok.responses.js';
import { InviterRevocations } from './invitations/inviter-revocations.js';
import { type ChangeFacts, MembershipFactsRepository } from './members/membership-facts.repository.js';
import { requireLeaving, requireTransfer } from './members/membership-policy.js';
import { MembersRepository } from './members/members.repository.js';
import { OrgWrites } from './org-writes.js';
import { ValidationProblem } from '../problems/problem.js';
import type { Write } from '../requests/write.js';

interface Departing {
  orgId: string;
  write: Write;
  orgRevision: number;
}

@Injectable()
export class DeparturesService {
  constructor(
    private readonly facts: MembershipFactsRepository,
    private readonly members: MembersRepository,
    private readonly revocations: InviterRevocations,
    private readonly events: EventsRepository,
    private readonly orgWrites: OrgWrites,
  ) {}

  leave(orgId: string, write: Write): Promise<OkResult> {
    const { actor } = write;
    return this.orgWrites.run(write, orgId, {
      read: (transaction) => this.findFacts(transaction, orgId, actor, actor.id),
      work: async (transaction, facts) => {
        const role = requireLeaving(facts, actor);
        const departing = { orgId, write, orgRevision: facts.revision };
        await this.events.record(transaction, ...(await this.depart(transaction, departing, role)));
        return OK;
      },
    });
  }

  /** Makes a member an owner; the actor becomes an admin, or leaves. */
  transfer(orgId: string, write: Write, userId: string, leaves: boolean): Promise<OkResult> {
    const { actor } = write;
    if (userId === actor.id) {
      throw new ValidationProblem([{ field: 'userId', message: 'must be another member' }]);
    }
    return this.orgWrites.run(write, orgId, {
      read: (transaction) => this.findFacts(transaction, orgId, actor, userId),
      work: async (transaction, facts) => {
        const from = requireTransfer(facts);
        const departing = { orgId, write, orgRevision: facts.revision };
        const events: NewEvent[] = [];
        if (from !== 'owner') {
          events.push(await this.change(transaction, departing, userId, { from, to: 'owner' }));
        }
        if (leaves) events.push(...(await this.depart(transaction, departing, 'owner')));
        else events.push(await this.change(transaction, departing, actor.id, { from: 'owner', to: 'admin' }));
        // Recorded at once, so that the events of one revision have one time.
        await this.events.record(transaction, ...events);
        return OK;
      },
    });
  }

  private findFacts(
    transaction: Transaction,
    orgId: string,
    actor: UserActor,
    targetId: string,
  ): Promise<ChangeFacts | undefined> {
    return this.facts.change.findIn(transaction, { orgId, actorId: actor.id, targetId });
  }

  private async change(
    transaction: Transaction,
    { orgId, write: { actor }, orgRevision }: Departing,
    userId: string,
    { from, to }: { from: Role; to: Role },
  ): Promise<NewEvent> {
    await this.members.updateRole(transaction, orgId, userId, to);
    return { type: 'member.role_changed', actor, orgId, orgRevision, userId, data: { from, to } };
  }

  private async depart(
    transaction: Transaction,
    { orgId, write: { actor, dryRun }, orgRevision }: Departing,
    role: Role,
  ): Promise<NewEvent[]> {
    // No answer tells of the invitations, which can be many rows.
    const inviting = dryRun ? [] : [{ orgId, revision: orgRevision }];
    const why = { actor, reason: 'inviter_left' } as const;
    const revoked = await this.revocations.revokeAll(transaction, actor.id, inviting, why);
    await this.members.delete(transaction, orgId, actor.id);
    const data = { role, reason: 'left' };
    return [{ type: 'member.removed', actor, orgId, orgRevision, userId: actor.id, data }, ...revoked];
  }
}
