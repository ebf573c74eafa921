import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { Role } from '../access/role.js';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { canChangeRole, canRemove, requireAdmin } from '../memberships/membership-policy.js';
import {
  AlreadyMemberError,
  InsufficientRoleError,
  LastOwnerError,
  MemberNotFoundError,
  OrgNotFoundError,
  UserHasTooManyOrgsError,
  UserNotFoundError,
} from '../memberships/memberships.errors.js';
import { MembersRepository } from '../memberships/members.repository.js';
import { OrgsRepository } from '../memberships/orgs.repository.js';
import type { Membership } from './dto/member.responses.js';

/**
 * Changes of memberships. Each reads the actor's role again inside its transaction: what the guard saw can
 * be stale by then.
 */
@Injectable()
export class MembersService {
  constructor(
    private readonly members: MembersRepository,
    private readonly orgs: OrgsRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /**
   * @param email in canonical form
   * @throws UserNotFoundError, AlreadyMemberError, UserHasTooManyOrgsError, or because the actor may not do it (any
   *   more)
   */
  add(orgId: string, actor: Actor, email: string, role: Role): Promise<Membership> {
    const { maxOrgsPerUser } = this.env;
    return this.change(orgId, async (transaction) => {
      const { actorRole, user } = await this.members.findAddContext(
        transaction,
        { orgId, actorId: actor.id, email },
        maxOrgsPerUser,
      );
      requireAdmin(actorRole);
      if (user === undefined) throw new UserNotFoundError();
      if (user.atOrgLimit) {
        if (await this.members.isMember(transaction, orgId, user.id)) throw new AlreadyMemberError();
        throw new UserHasTooManyOrgsError(maxOrgsPerUser);
      }

      await this.members.insert(transaction, { orgId, userId: user.id, role, joinedAt: Date.now() });
      return { userId: user.id, role };
    });
  }

  /** @throws MemberNotFoundError, LastOwnerError, or because the actor may not do it (any more) */
  changeRole(orgId: string, actor: Actor, userId: string, role: Role): Promise<Membership> {
    return this.change(orgId, async (transaction) => {
      const { actorRole, target } = await this.members.findRoles(transaction, orgId, actor.id, userId);
      requireAdmin(actorRole);
      if (target === undefined) throw new MemberNotFoundError();
      if (!canChangeRole(actorRole, target, role)) throw new InsufficientRoleError('owner', actorRole);
      if (target === 'owner' && role !== 'owner') await this.refuseLastOwner(transaction, orgId);

      await this.members.updateRole(transaction, orgId, userId, role);
      return { userId, role };
    });
  }

  /** @throws MemberNotFoundError, LastOwnerError, or because the actor may not do it (any more) */
  remove(orgId: string, actor: Actor, userId: string): Promise<{ ok: true }> {
    return this.change(orgId, async (transaction) => {
      const { actorRole, target } = await this.members.findRoles(transaction, orgId, actor.id, userId);
      requireAdmin(actorRole);
      if (target === undefined) throw new MemberNotFoundError();
      if (!canRemove(actorRole, target)) throw new InsufficientRoleError('owner', actorRole);
      if (target === 'owner') await this.refuseLastOwner(transaction, orgId);

      await this.members.delete(transaction, orgId, userId);
      return { ok: true };
    });
  }

  private change<T>(orgId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.orgs.lock(transaction, orgId))) throw new OrgNotFoundError();
      return work(transaction);
    });
  }

  private async refuseLastOwner(transaction: Transaction, orgId: string): Promise<void> {
    if (await this.members.hasOneOwner(transaction, orgId)) throw new LastOwnerError();
  }
}
