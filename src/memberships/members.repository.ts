import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../access/role.js';
import { isUniqueViolation } from '../database/database-errors.js';
import { hotStatement } from '../database/hot-statements.js';
import { Lookup, lookupStatement } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { Member, MEMBERS_KEY } from './member.entity.js';
import { AlreadyMemberError } from './memberships.errors.js';
import { orgAtLimit } from './orgs.repository.js';

interface MembershipKey {
  orgId: string;
  userId: string;
}

/** An organization as one user sees it. */
export interface Membership extends MembershipKey {
  orgName: string;
  /** null: not a member */
  role: Role | null;
}

/** The roles that decide about a change. */
export interface Roles {
  actorRole: Role | undefined;
  target: Role | undefined;
}

/** What decides about adding somebody. */
export interface AddContext {
  actorRole: Role | undefined;
  /** undefined: nobody has this e-mail */
  user: { id: string; atOrgLimit: boolean } | undefined;
}

/** One look-up by primary key after another. */
const FIND_MEMBERSHIPS = lookupStatement<MembershipKey, Membership>('the role check', {
  sql: (size) =>
    Array(size)
      .fill(
        `SELECT o.id AS orgId, o.name AS orgName, ? AS userId, m.role
         FROM orgs o LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ?
         WHERE o.id = ?`,
      )
      .join(' UNION ALL '),
  values: (keys) => keys.flatMap(({ orgId, userId }) => [userId, userId, orgId]),
  keyText: textOf,
  rowText: textOf,
  nobody: { orgId: '', userId: '' },
});

const FIND_ROLES = hotStatement(
  'the roles that decide about a change',
  'SELECT user_id AS userId, role FROM members WHERE org_id = ? AND user_id IN (?, ?)',
  ['', '', ''],
);

const findAddContext = (maxOrgs: number): string =>
  `SELECT m.role, u.id AS userId, ${orgAtLimit(maxOrgs)} AS orgAtLimit
  FROM members m LEFT JOIN users u ON u.email = ?
  WHERE m.org_id = ? AND m.user_id = ?`;
hotStatement('the role and the user of an addition', findAddContext(5000), ['', '', '']);

const FIND_TWO_OWNERS = hotStatement(
  'the owners that must stay',
  "SELECT user_id FROM members WHERE org_id = ? AND role = 'owner' LIMIT 2",
  [''],
);

@Injectable()
export class MembersRepository {
  private readonly memberships: Lookup<MembershipKey, Membership>;

  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {
    this.memberships = new Lookup(FIND_MEMBERSHIPS, members);
  }

  /** undefined: there is no such organization */
  findMembership(orgId: string, userId: string): Promise<Membership | undefined> {
    return this.memberships.find({ orgId, userId });
  }

  /** Needs the organization locked. */
  async findRoles(
    transaction: Transaction,
    orgId: string,
    actorId: string,
    targetId: string,
  ): Promise<Roles> {
    const rows = await transaction.read<{ userId: string; role: Role }>(FIND_ROLES, [
      orgId,
      actorId,
      targetId,
    ]);
    const roleOf = (id: string): Role | undefined => rows.find(({ userId }) => userId === id)?.role;
    return { actorRole: roleOf(actorId), target: roleOf(targetId) };
  }

  /** Needs the organization locked. Who is to be added is locked, too, and stays until COMMIT. */
  async findAddContext(
    transaction: Transaction,
    { orgId, actorId, email }: { orgId: string; actorId: string; email: string },
    maxOrgs: number,
  ): Promise<AddContext> {
    const [row] = await transaction.read<{ role: Role; userId: string | null; orgAtLimit: string | null }>(
      findAddContext(maxOrgs) + transaction.forUpdate,
      [email, orgId, actorId],
    );
    const id = row?.userId ?? undefined;
    return {
      actorRole: row?.role,
      user: id === undefined ? undefined : { id, atOrgLimit: row?.orgAtLimit !== null },
    };
  }

  isMember(transaction: Transaction, orgId: string, userId: string): Promise<boolean> {
    return transaction.of(this.members).existsBy({ orgId, userId });
  }

  /** Whether the organization would have no owner left without this one. Needs it locked. */
  async hasOneOwner(transaction: Transaction, orgId: string): Promise<boolean> {
    return (await transaction.read<unknown>(FIND_TWO_OWNERS, [orgId])).length < 2;
  }

  /**
   * Needs the user's row locked: so the limit of his organizations was judged, and so he stays.
   *
   * @throws AlreadyMemberError
   */
  async insert(transaction: Transaction, { orgId, userId, role, joinedAt }: Member): Promise<void> {
    try {
      await transaction.write('INSERT INTO members (org_id, user_id, role, joined_at) VALUES (?, ?, ?, ?)', [
        orgId,
        userId,
        role,
        joinedAt,
      ]);
    } catch (error) {
      throw isUniqueViolation(error, MEMBERS_KEY) ? new AlreadyMemberError() : error;
    }
  }

  async updateRole(transaction: Transaction, orgId: string, userId: string, role: Role): Promise<void> {
    await transaction.write('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [
      role,
      orgId,
      userId,
    ]);
  }

  async delete(transaction: Transaction, orgId: string, userId: string): Promise<void> {
    await transaction.write('DELETE FROM members WHERE org_id = ? AND user_id = ?', [orgId, userId]);
  }
}

function textOf({ orgId, userId }: MembershipKey): string {
  return `${orgId} ${userId}`;
}
