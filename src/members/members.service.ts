import { Injectable } from '@nestjs/common';
import { type Role, roleAtLeast } from '../access/role.js';
import { Env } from '../config/env.js';
import { isUniqueViolation } from '../database/database-errors.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { MEMBERS_KEY } from '../memberships/member.entity.js';
import { canChangeRole, canRemove } from '../memberships/membership-policy.js';
import {
  AlreadyMemberError,
  InsufficientRoleError,
  LastOwnerError,
  MemberNotFoundError,
  NotAMemberError,
  UserHasTooManyOrgsError,
  UserNotFoundError,
} from '../memberships/memberships.errors.js';
import type { MemberResponse } from './dto/member.responses.js';
import { findRoleAndUser, findRoles, hasOneOwner, isMember, lockOrg } from '../memberships/membership.js';

/**
 * Changes of memberships. Each reads the actor's role again inside its transaction: what the guard saw can
 * be stale by then.
 */
@Injectable()
export class MembersService {
  constructor(
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** Needs the user's row locked: so the limit of his organizations was judged, and so he stays. */
  async insert(transaction: Transaction, orgId: string, userId: string, role: Role): Promise<void> {
    try {
      await transaction.write('INSERT INTO members (org_id, user_id, role, joined_at) VALUES (?, ?, ?, ?)', [
        orgId,
        userId,
        role,
        Date.now(),
      ]);
    } catch (error) {
      throw isUniqueViolation(error, MEMBERS_KEY) ? new AlreadyMemberError() : error;
    }
  }

  /**
   * @param email in canonical form
   * @throws UserNotFoundError, AlreadyMemberError, UserHasTooManyOrgsError, or because the actor may not do it (any
   *   more)
   */
  add(orgId: string, actorId: string, email: string, role: Role): Promise<MemberResponse> {
    const { maxOrgsPerUser } = this.env;
    return this.transactions.run(async (transaction) => {
      await lockOrg(transaction, orgId);
      const { actor, user } = await findRoleAndUser(transaction, { orgId, actorId, email }, maxOrgsPerUser);
      requireAdmin(actor);
      if (user === undefined) throw new UserNotFoundError();
      if (user.atOrgLimit) {
        if (await isMember(transaction, orgId, user.id)) throw new AlreadyMemberError();
        throw new UserHasTooManyOrgsError(maxOrgsPerUser);
      }

      await this.insert(transaction, orgId, user.id, role);
      return { userId: user.id, role };
    });
  }

  /** @throws MemberNotFoundError, LastOwnerError, or because the actor may not do it (any more) */
  changeRole(orgId: string, actorId: string, userId: string, role: Role): Promise<MemberResponse> {
    return this.transactions.run(async (transaction) => {
      await lockOrg(transaction, orgId);
      const { actor, target } = await findRoles(transaction, orgId, actorId, userId);
      requireAdmin(actor);
      if (target === undefined) throw new MemberNotFoundError();
      if (!canChangeRole(actor, target, role)) throw new InsufficientRoleError('owner', actor);
      if (target === 'owner' && role !== 'owner') await refuseLastOwner(transaction, orgId);

      await transaction.write('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [
        role,
        orgId,
        userId,
      ]);
      return { userId, role };
    });
  }

  /** @throws MemberNotFoundError, LastOwnerError, or because the actor may not do it (any more) */
  remove(orgId: string, actorId: string, userId: string): Promise<{ ok: true }> {
    return this.transactions.run(async (transaction) => {
      await lockOrg(transaction, orgId);
      const { actor, target } = await findRoles(transaction, orgId, actorId, userId);
      requireAdmin(actor);
      if (target === undefined) throw new MemberNotFoundError();
      if (!canRemove(actor, target)) throw new InsufficientRoleError('owner', actor);
      if (target === 'owner') await refuseLastOwner(transaction, orgId);

      await transaction.write('DELETE FROM members WHERE org_id = ? AND user_id = ?', [orgId, userId]);
      return { ok: true };
    });
  }
}

function requireAdmin(role: Role | undefined): asserts role is Role {
  if (role === undefined) throw new NotAMemberError();
  if (!roleAtLeast(role, 'admin')) throw new InsufficientRoleError('admin', role);
}

async function refuseLastOwner(transaction: Transaction, orgId: string): Promise<void> {
  if (await hasOneOwner(transaction, orgId)) throw new LastOwnerError();
}
