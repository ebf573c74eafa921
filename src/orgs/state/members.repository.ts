import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../../access/principal.js';
import { isUniqueViolation } from '../../database/transactions/database-errors.js';
import { inBatches, keyTable, padded, placeholders } from '../../database/statements.js';
import { SharedStatement } from '../../database/shared-statement.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { Member, MEMBERS_KEY, type Org, type OrgStatus } from './org.entity.js';
import { IS_FACTOR_REQUIRED, type OrgFacts, type OrgRow } from './orgs.repository.js';
import { Problem } from '../../problems/problem.js';

interface MemberKey {
  orgId: string;
  userId: string;
}

export interface Membership {
  orgId: string;
  orgName: string;
  revision: number;
  secondFactorFrom: number | null;
  isFactorRequired: 0 | 1;
  role: Role | null;
}

export interface ActorFacts {
  actorRole: Role | null;
  actorDisabledAt: number | null;
}

export interface MemberPair {
  actorRole: Role | null;
  targetRole: Role | null;
  /** of an owner; null of others */
  hasOtherOwner: 0 | 1 | null;
  hasOtherMember: 0 | 1;
  isTargetDisabled: 0 | 1;
  lacksTargetFactor: 0 | 1;
}

export interface AdditionFacts {
  actorRole: Role | null;
  userId: string | null;
  emailVerifiedAt: number | null;
  targetRole: Role | null;
  isInvited: 0 | 1;
}

export interface LockedMembership {
  orgId: string;
  name: string;
  role: Role;
  revision: number;
  hasOtherOwner: 0 | 1;
  hasOtherMember: 0 | 1;
  isDeleted: 0 | 1;
  isInviter: 0 | 1;
  isFactorRequired: 0 | 1;
}

// Takes SQL. With other indexes the engines read all members; MySQL obeys the hint, the others the ORDER BY.
function hasOtherOwner(org: string, user: string): string {
  return `(SELECT /*+ INDEX(w members_org_id_role_email_idx) */ 1
    FROM members w JOIN users v ON v.id = w.user_id
    WHERE w.org_id = ${org} AND w.role = 'owner' AND w.user_id <> ${user} AND v.disabled_at IS NULL
    ORDER BY w.org_id, w.role, w.email LIMIT 1) IS NOT NULL`;
}

function hasOtherMember(org: string, user: string): string {
  return `EXISTS (SELECT 1 FROM members x WHERE x.org_id = ${org} AND x.user_id <> ${user})`;
}

function isInviter(org: string, user: string): string {
  return `EXISTS (SELECT 1 FROM invitations i
    WHERE i.org_id = ${org} AND i.invited_by = ${user} AND i.pending = 1)`;
}

export const ACTOR: OrgFacts<ActorFacts> = {
  columns: { actorRole: 'a.role', actorDisabledAt: 'c.disabled_at' },
  joins: '',
  values: [],
};

const PAIR: OrgFacts<MemberPair>['columns'] = {
  actorRole: 'a.role',
  targetRole: 't.role',
  isTargetDisabled: 'd.disabled_at IS NOT NULL',
  lacksTargetFactor: 'd.second_factor_at IS NULL',
  hasOtherOwner: `CASE WHEN t.role = 'owner' THEN ${hasOtherOwner('o.id', 't.user_id')} END`,
  hasOtherMember: '1',
};
const OWN: OrgFacts<MemberPair>['columns'] = {
  ...PAIR,
  // Without the condition, a change of a user who is not a member would read all members.
  hasOtherMember: `t.user_id IS NOT NULL AND ${hasOtherMember('o.id', 't.user_id')}`,
};
const TARGET = `LEFT JOIN members t ON t.org_id = o.id AND t.user_id = ? LEFT JOIN users d ON d.id = t.user_id`;

/** Looks for another member only if the actor is the target: any other actor is a member too, or is rejected. */
export function pairOf(targetId: string, actorId?: string): OrgFacts<MemberPair> {
  return { columns: targetId === actorId ? OWN : PAIR, joins: TARGET, values: [targetId] };
}

const ADDITION: OrgFacts<AdditionFacts>['columns'] = {
  actorRole: 'a.role',
  userId: 'u.id',
  emailVerifiedAt: 'u.email_verified_at',
  targetRole: 't.role',
  isInvited: `EXISTS (SELECT 1 FROM invitations i
    WHERE i.org_id = o.id AND i.email = u.email AND i.pending = 1)`,
};
const ADDED = 'LEFT JOIN users u ON u.email = ? LEFT JOIN members t ON t.org_id = o.id AND t.user_id = u.id';

export function additionOf(email: string): OrgFacts<AdditionFacts> {
  return { columns: ADDITION, joins: ADDED, values: [email] };
}

const NOBODY: MemberKey = { orgId: '', userId: '' };

/** Callers with a transaction hold the lock of the organization. */
@Injectable()
export class MembersRepository {
  private readonly memberships = new SharedStatement((keys: MemberKey[]) => this.findMemberships(keys));

  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  /** Finds nothing without the organization. Concurrent calls share a statement. */
  findMembership(orgId: string, userId: string): Promise<Membership | undefined> {
    return this.memberships.run({ orgId, userId });
  }

  async isEnabledOwner(orgId: string, userId: string): Promise<boolean> {
    const sql = `SELECT m.user_id FROM members m JOIN users u ON u.id = m.user_id
      WHERE m.org_id = ? AND m.user_id = ? AND m.role = 'owner' AND u.disabled_at IS NULL`;
    return (await this.members.query<unknown[]>(sql, [orgId, userId])).length > 0;
  }

  async countWithoutFactor(tx: Transaction, orgId: string): Promise<number> {
    // LEFT preserves the join order if most users are in one organization.
    const sql = `SELECT COUNT(*) AS members FROM members m LEFT JOIN users u ON u.id = m.user_id
      WHERE m.org_id = ? AND u.second_factor_at IS NULL`;
    return (await tx.read<{ members: number }>(sql, [orgId]))[0]!.members;
  }

  /** For the event of an addition. The insert holds the user's row, whose latest version only a locking read sees. */
  async suspensionOf(tx: Transaction, org: OrgRow, userId: string): Promise<{ suspended?: true }> {
    if (!org.isFactorRequired) return {};
    const sql = `SELECT id FROM users WHERE id = ? AND second_factor_at IS NULL${tx.forUpdate}`;
    return (await tx.read<unknown>(sql, [userId])).length > 0 ? { suspended: true } : {};
  }

  /**
   * Takes the email from the user's row and locks the row, so that both hold until COMMIT. Returns false for an unknown
   * user, a disabled owner, or at `maxOrgs` organizations. @throws already_member
   */
  async insert(tx: Transaction, member: Omit<Member, 'email'>, maxOrgs: number): Promise<boolean> {
    const { orgId, userId, role, joinedAt } = member;
    // Reads at most as many rows as the limit.
    const sql = `INSERT INTO members (org_id, user_id, email, role, joined_at)
      SELECT ?, u.id, u.email, ?, ? FROM users u WHERE u.id = ?
        AND (SELECT x.org_id FROM members x WHERE x.user_id = u.id LIMIT 1 OFFSET ${maxOrgs - 1}) IS NULL
        ${role === 'owner' ? 'AND u.disabled_at IS NULL' : ''}${tx.forUpdate}`;
    try {
      return (await tx.write(sql, [orgId, role, joinedAt, userId])) === 1;
    } catch (error) {
      throw isUniqueViolation(error, MEMBERS_KEY) ? new Problem('already_member') : error;
    }
  }

  async updateRole(tx: Transaction, orgId: string, userId: string, role: Role): Promise<void> {
    await tx.write('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [role, orgId, userId]);
  }

  async updateEmail(tx: Transaction, userId: string, email: string): Promise<void> {
    await tx.write('UPDATE members SET email = ? WHERE user_id = ?', [email, userId]);
  }

  async findOrgIds(userId: string): Promise<string[]> {
    const sql = 'SELECT org_id AS orgId FROM members WHERE user_id = ?';
    return (await this.members.query<{ orgId: string }[]>(sql, [userId])).map(({ orgId }) => orgId);
  }

  findLockedMemberships(tx: Transaction, userId: string): Promise<LockedMembership[]> {
    const sql = `SELECT m.org_id AS orgId, o.name, m.role, o.revision, o.deleted_at IS NOT NULL AS isDeleted,
        ${hasOtherOwner('m.org_id', 'm.user_id')} AS hasOtherOwner,
        ${hasOtherMember('m.org_id', 'm.user_id')} AS hasOtherMember,
        ${isInviter('m.org_id', 'm.user_id')} AS isInviter, ${IS_FACTOR_REQUIRED} AS isFactorRequired
      FROM members m LEFT JOIN orgs o ON o.id = m.org_id WHERE m.user_id = ?${tx.forUpdate}`;
    return tx.read<LockedMembership>(sql, [userId]);
  }

  async delete(tx: Transaction, userId: string, orgIds: readonly string[]): Promise<void> {
    for await (const batch of inBatches(orgIds)) {
      const sql = `DELETE FROM members WHERE user_id = ? AND org_id IN (${placeholders(batch.length)})`;
      await tx.write(sql, [userId, ...batch]);
    }
  }

  async deleteOfOrg(tx: Transaction, orgId: string, limit: number): Promise<number> {
    const find = 'SELECT user_id AS id FROM members WHERE org_id = ? LIMIT ?';
    const found = await tx.read<{ id: string }>(find, [orgId, limit]);
    if (found.length === 0) return 0;
    const sql = `DELETE FROM members WHERE org_id = ? AND user_id IN (${placeholders(found.length)})`;
    return tx.write(sql, [orgId, ...found.map(({ id }) => id)]);
  }

  async hasEnabledOwner(tx: Transaction, orgId: string): Promise<boolean> {
    const sql = `SELECT m.user_id AS id FROM members m JOIN users u ON u.id = m.user_id
      WHERE m.org_id = ? AND m.role = 'owner' AND u.disabled_at IS NULL
      ORDER BY m.org_id, m.role, m.email LIMIT 1`;
    return (await tx.read<unknown>(sql, [orgId])).length > 0;
  }

  /** Chooses from a page of organizations. An ownerless one is not deleted and has no enabled owner. */
  async ofStatus<Of extends Pick<Org, 'id' | 'deletedAt'>>(status: OrgStatus, orgs: Of[]): Promise<Of[]> {
    if (status === 'deleted') return orgs.filter(({ deletedAt }) => deletedAt !== null);
    const active = orgs.filter(({ deletedAt }) => deletedAt === null);
    if (status === 'active' || active.length === 0) return active;
    const asked = padded(
      active.map(({ id }) => id),
      '',
    );
    // LEFT preserves the join order: a plain join could begin with all users.
    const sql = `SELECT DISTINCT m.org_id AS id FROM members m LEFT JOIN users u ON u.id = m.user_id
      WHERE m.org_id IN (${placeholders(asked.length)}) AND m.role = 'owner' AND u.disabled_at IS NULL`;
    const found = await this.members.query<{ id: string }[]>(sql, asked);
    const owned = new Set(found.map(({ id }) => id));
    return active.filter(({ id }) => !owned.has(id));
  }

  countByRole(orgId: string): Promise<{ role: Role; members: number }[]> {
    const sql = 'SELECT role, COUNT(*) AS members FROM members WHERE org_id = ? GROUP BY role';
    return this.members.query(sql, [orgId]);
  }

  private async findMemberships(keys: MemberKey[]): Promise<(Membership | undefined)[]> {
    const asked = padded(keys, NOBODY);
    type Row = Membership & MemberKey;
    const rows = await this.members.query<Row[]>(
      `SELECT o.id AS orgId, o.name AS orgName, o.revision, k.user_id AS userId, m.role,
          o.second_factor_from AS secondFactorFrom, ${IS_FACTOR_REQUIRED} AS isFactorRequired
        FROM ${keyTable('SELECT id AS org_id, id AS user_id FROM orgs', 2, asked.length)}
          JOIN orgs o ON o.id = k.org_id AND o.deleted_at IS NULL
          LEFT JOIN members m ON m.org_id = o.id AND m.user_id = k.user_id`,
      asked.flatMap(({ orgId, userId }) => [orgId, userId]),
    );
    const byKey = new Map(rows.map((row) => [row.orgId + row.userId, row]));
    return keys.map(({ orgId, userId }) => byKey.get(orgId + userId));
  }
}
