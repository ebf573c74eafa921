import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../../access/role.js';
import { isUniqueViolation } from '../../database/database-errors.js';
import { hotStatement } from '../../database/hot-statements.js';
import { byColumns, keyTable, Lookup, lookupStatement } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { Member, MEMBERS_KEY } from './member.entity.js';
import { AlreadyMemberError } from './members.errors.js';

interface MemberKey {
  orgId: string;
  userId: string;
}

/** The role of a user in an organization, at one revision of it. */
export interface Membership extends MemberKey {
  orgName: string;
  revision: number;
  /** null: not a member */
  role: Role | null;
}

const FIND_MEMBERSHIPS = lookupStatement<MemberKey, Membership>('the role check', {
  sql: (size) => `SELECT o.id AS orgId, o.name AS orgName, o.revision, k.user_id AS userId, m.role
    FROM ${keyTable('SELECT id AS org_id, id AS user_id FROM orgs', 2, size)}
      JOIN orgs o ON o.id = k.org_id AND o.deleted_at IS NULL
      LEFT JOIN members m ON m.org_id = o.id AND m.user_id = k.user_id`,
  ...byColumns('orgId', 'userId'),
});

/** NULL while the user `u` may join one more organization; reads at most as many rows as the limit. */
function orgAtLimit(maxOrgs: number): string {
  return `(SELECT x.org_id FROM members x WHERE x.user_id = u.id LIMIT 1 OFFSET ${maxOrgs - 1})`;
}

/** One statement takes the email from the user's row and locks it, so that both hold until COMMIT. */
const insertMember = (maxOrgs: number): string =>
  `SELECT ?, u.id, u.email, ?, ? FROM users u WHERE u.id = ? AND ${orgAtLimit(maxOrgs)} IS NULL`;
hotStatement('the limit of the organizations of a user', insertMember(5000), ['', 'member', 0, '']);
const IS_ENABLED = ' AND u.disabled_at IS NULL';

@Injectable()
export class MembersRepository {
  readonly membership: Lookup<MemberKey, Membership>;

  constructor(@InjectRepository(Member) members: Repository<Member>) {
    this.membership = new Lookup(FIND_MEMBERSHIPS, members);
  }

  /**
   * @returns false without such a user, for an owner who is disabled, or at `maxOrgs` organizations
   * @throws AlreadyMemberError
   */
  async insert(
    transaction: Transaction,
    { orgId, userId, role, joinedAt }: Omit<Member, 'email'>,
    maxOrgs: number,
  ): Promise<boolean> {
    const user = insertMember(maxOrgs) + (role === 'owner' ? IS_ENABLED : '') + transaction.forUpdate;
    try {
      const inserted = await transaction.write(
        `INSERT INTO members (org_id, user_id, email, role, joined_at) ${user}`,
        [orgId, role, joinedAt, userId],
      );
      return inserted === 1;
    } catch (error) {
      throw isUniqueViolation(error, MEMBERS_KEY) ? new AlreadyMemberError() : error;
    }
  }

  async updateRole(transaction: Transaction, orgId: string, userId: string, role: Role): Promise<boolean> {
    const updated = await transaction.write('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [
      role,
      orgId,
      userId,
    ]);
    return updated === 1;
  }

  async updateEmail(transaction: Transaction, userId: string, email: string): Promise<void> {
    await transaction.write('UPDATE members SET email = ? WHERE user_id = ?', [email, userId]);
  }

  async delete(transaction: Transaction, orgId: string, userId: string): Promise<boolean> {
    const deleted = await transaction.write('DELETE FROM members WHERE org_id = ? AND user_id = ?', [
      orgId,
      userId,
    ]);
    return deleted === 1;
  }

  async isEmpty(transaction: Transaction, orgId: string): Promise<boolean> {
    const found = await transaction.read('SELECT user_id FROM members WHERE org_id = ? LIMIT 1', [orgId]);
    return found.length === 0;
  }
}
