import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { Role } from '../access/role.js';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { OrgNotFoundError, UserHasTooManyOrgsError } from './members/members.errors.js';
import { revocations } from './invitations/invitation-events.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import { MembersRepository } from './members/members.repository.js';
import { OrgsRepository } from './orgs.repository.js';
import { type OwnerFacts, OwnershipRepository } from './ownership.repository.js';
import { requireUnprotected } from '../users/operator-protection.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { OwnerDisabledError, OwnerNoMemberError } from './owners.errors.js';

export interface NewOwner {
  orgId: string;
  userId: string;
  actor: Actor;
  /** allows somebody who is no member */
  force: boolean;
}

/** Makes owners where nobody in the organization can. */
@Injectable()
export class OrgOwnersService {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly ownership: OwnershipRepository,
    private readonly users: UserChangesRepository,
    private readonly invitations: InvitationsRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /**
   * Over HTTP no operator becomes an owner, so that none takes an organization.
   * @throws OrgNotFoundError, OwnerDisabledError, OwnerNoMemberError, UserHasTooManyOrgsError, OperatorProtectedError
   */
  add(owner: NewOwner): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      const isThere = await this.orgs.lock(transaction, owner.orgId);
      const facts = isThere
        ? await this.ownership.findOwnerFacts(transaction, owner.orgId, owner.userId)
        : undefined;
      if (!facts) throw new OrgNotFoundError();
      if (facts.role === 'owner') return false;
      if (!(await this.users.lockEnabled(transaction, owner.userId))) throw new OwnerDisabledError();
      const { operatorSince } = await this.users.stateOf(transaction, owner.userId);
      requireUnprotected(owner.actor, operatorSince);
      if (facts.role === null && !owner.force) throw new OwnerNoMemberError();
      await (facts.role === null
        ? this.join(transaction, owner, facts)
        : this.promote(transaction, owner, facts.role, facts.revision));
      return true;
    });
  }

  private async promote(
    transaction: Transaction,
    owner: NewOwner,
    from: Role,
    orgRevision: number,
  ): Promise<void> {
    const { orgId, userId, actor } = owner;
    await this.members.updateRole(transaction, orgId, userId, 'owner');
    await this.events.record(transaction, {
      type: 'member.role_changed',
      actor,
      orgId,
      orgRevision,
      userId,
      data: { from, to: 'owner' },
    });
  }

  private async join(transaction: Transaction, owner: NewOwner, facts: OwnerFacts): Promise<void> {
    const { orgId, userId, actor } = owner;
    const { maxOrgsPerUser } = this.env;
    const member = { orgId, userId, role: 'owner', joinedAt: Date.now() } as const;
    if (!(await this.members.insert(transaction, member, maxOrgsPerUser))) {
      throw new UserHasTooManyOrgsError(maxOrgsPerUser);
    }
    const ended = await this.invitations.revokeOfEmail(transaction, orgId, facts.email);
    const at = { actor, orgId, orgRevision: facts.revision };
    await this.events.record(
      transaction,
      { ...at, type: 'member.added', userId, data: { role: 'owner', via: 'added', force: true } },
      ...revocations(ended, 'member_added').map((event) => Object.assign(event, at)),
    );
  }
}
