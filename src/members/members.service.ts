import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { type Role, roleAtLeast } from '../access/role.js';
import { isForeignKeyViolation, isUniqueViolation } from '../database/database-errors.js';
import { affectedRows } from '../database/statements.js';
import { Transactions } from '../database/transactions.js';
import { canonicalEmail } from '../users/email-address.js';
import { UsersService } from '../users/users.service.js';
import { Member, MEMBERS_KEY } from './member.entity.js';
import { canChangeRole, canRemove, isLastOwner } from './member-policy.js';
import {
  AlreadyMemberError,
  InsufficientRoleError,
  LastOwnerError,
  MemberNotFoundError,
  NotAMemberError,
  UserNotFoundError,
} from './members.errors.js';
import type { ListedMemberResponse, MemberResponse } from './dto/member.responses.js';
import { type LockedMemberships, lockMemberships } from './membership.js';

export const LIST_MEMBERS = `SELECT m.user_id AS userId, u.email, m.role
  FROM members m JOIN users u ON u.id = m.user_id
  WHERE m.org_id = ? ORDER BY m.joined_at, m.user_id`;

/**
 * Changes of memberships. Each reads the actor's role again inside its transaction: what the guard saw can
 * be stale by then.
 */
@Injectable()
export class MembersService {
  constructor(
    @InjectRepository(Member) private readonly members: Repository<Member>,
    private readonly users: UsersService,
    private readonly transactions: Transactions,
  ) {}

  /** By the time they joined, then by user id. */
  list(orgId: string): Promise<ListedMemberResponse[]> {
    return this.members.query(LIST_MEMBERS, [orgId]);
  }

  async insert(manager: EntityManager, orgId: string, userId: string, role: Role): Promise<void> {
    try {
      await manager.query('INSERT INTO members (org_id, user_id, role, joined_at) VALUES (?, ?, ?, ?)', [
        orgId,
        userId,
        role,
        Date.now(),
      ]);
    } catch (error) {
      if (isUniqueViolation(error, MEMBERS_KEY)) throw new AlreadyMemberError();
      throw isForeignKeyViolation(error) ? new UserNotFoundError() : error;
    }
  }

  /** @throws UserNotFoundError, AlreadyMemberError, or because the actor may not do it (any more) */
  add(orgId: string, actorId: string, rawEmail: string, role: Role): Promise<MemberResponse> {
    const email = canonicalEmail(rawEmail)!;
    return this.transactions.run(async (manager) => {
      requireAdmin(await lockMemberships(manager, orgId, [actorId, actorId]), actorId);
      const userId = await this.users.findIdByEmail(manager, email);
      if (userId === undefined) throw new UserNotFoundError();

      await this.insert(manager, orgId, userId, role);
      return { userId, role };
    });
  }

  /** @throws MemberNotFoundError, LastOwnerError, or because the actor may not do it (any more) */
  changeRole(orgId: string, actorId: string, userId: string, role: Role): Promise<MemberResponse> {
    return this.transactions.run(async (manager) => {
      const memberships = await lockMemberships(manager, orgId, [actorId, userId]);
      const actor = requireAdmin(memberships, actorId);
      const current = memberships.roleOf(userId);
      if (current === undefined) throw new MemberNotFoundError();
      if (!canChangeRole(actor, current, role)) throw new InsufficientRoleError('owner', actor);
      if (role !== 'owner' && isLastOwner(current, memberships.owners)) throw new LastOwnerError();

      await affectedRows(manager, 'UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [
        role,
        orgId,
        userId,
      ]);
      return { userId, role };
    });
  }

  /** @throws MemberNotFoundError, LastOwnerError, or because the actor may not do it (any more) */
  remove(orgId: string, actorId: string, userId: string): Promise<{ ok: true }> {
    return this.transactions.run(async (manager) => {
      const memberships = await lockMemberships(manager, orgId, [actorId, userId]);
      const actor = requireAdmin(memberships, actorId);
      const current = memberships.roleOf(userId);
      if (current === undefined) throw new MemberNotFoundError();
      if (!canRemove(actor, current)) throw new InsufficientRoleError('owner', actor);
      if (isLastOwner(current, memberships.owners)) throw new LastOwnerError();

      await affectedRows(manager, 'DELETE FROM members WHERE org_id = ? AND user_id = ?', [orgId, userId]);
      return { ok: true };
    });
  }
}

function requireAdmin(memberships: LockedMemberships, actorId: string): Role {
  const role = memberships.roleOf(actorId);
  if (role === undefined) throw new NotAMemberError();
  if (!roleAtLeast(role, 'admin')) throw new InsufficientRoleError('admin', role);
  return role;
}
