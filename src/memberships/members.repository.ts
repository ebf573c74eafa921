import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../access/role.js';
import { isUniqueViolation } from '../database/database-errors.js';
import { hotStatement } from '../database/hot-statements.js';
import { byColumns, keyTable, Lookup, lookupStatement } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { Member, MEMBERS_KEY } from './member.entity.js';
import { AlreadyMemberError } from './memberships.errors.js';
import { hasOtherOwner, invites } from './ownership.repository.js';

interface MembershipKey {
  orgId: string;
  userId: string;
}

export interface Membership extends MembershipKey {
  orgName: string;
  orgRevision: number;
  /** null: not a member */
  role: Role | null;
}

const FIND_MEMBERSHIPS = lookupStatement<MembershipKey, Membership>('the role check', {
  sql: (
    size,
  ) => `SELECT o.id AS orgId, o.name AS orgName, o.revision AS orgRevision, k.user_id AS userId, m.role
    FROM ${keyTable('SELECT id AS org_id, id AS user_id FROM orgs', 2, size)}
      JOIN orgs o ON o.id = k.org_id AND o.deleted_at IS NULL
      LEFT JOIN members m ON m.org_id = o.id AND m.user_id = k.user_id`,
  ...byColumns('orgId', 'userId'),
});

export interface ChangeKey {
  orgId: string;
  actorId: string;
  targetId: string;
}

/** What a change is decided on, at one revision of the organization; null: not a member. */
export interface ChangeFacts {
  revision: number;
  actorRole: Role | null;
  targetRole: Role | null;
  /** an enabled one, besides the target */
  hasOtherOwner: 0 | 1;
  isTargetDisabled: 0 | 1;
  /** whether invitations of the target are pending */
  targetInvites: 0 | 1;
}

export interface AdditionKey {
  orgId: string;
  actorId: string;
  email: string;
}

/** What an addition is decided on, at one revision of the organization; null: no member, no such user. */
export interface AdditionFacts {
  revision: number;
  actorRole: Role | null;
  userId: string | null;
  emailVerifiedAt: number | null;
  targetRole: Role | null;
  /** whether an invitation of the e-mail is pending */
  isInvited: 0 | 1;
}

// Not joined with a table of keys: only for constants do the engines see that an organization has few owners, and read
// those alone; of 100,000 members they read all.
const FIND_CHANGE_FACTS = lookupStatement<ChangeKey, ChangeKey & ChangeFacts>('what decides about a change', {
  ...byColumns('orgId', 'actorId', 'targetId'),
  sql: (size) =>
    Array(size)
      .fill(
        `SELECT o.id AS orgId, ? AS actorId, ? AS targetId, o.revision, a.role AS actorRole, t.role AS targetRole,
           ${hasOtherOwner('o.id', '?')} AS hasOtherOwner,
           EXISTS (SELECT 1 FROM users d WHERE d.id = t.user_id AND d.disabled_at IS NOT NULL)
             AS isTargetDisabled,
           ${invites('o.id', 't.user_id')} AS targetInvites
         FROM orgs o LEFT JOIN members a ON a.org_id = o.id AND a.user_id = ?
           LEFT JOIN members t ON t.org_id = o.id AND t.user_id = ?
         WHERE o.id = ? AND o.deleted_at IS NULL`,
      )
      .join(' UNION ALL '),
  values: (keys) =>
    keys.flatMap(({ orgId, actorId, targetId }) => [actorId, targetId, targetId, actorId, targetId, orgId]),
});

const FIND_ADDITION_FACTS = lookupStatement<AdditionKey, AdditionKey & AdditionFacts>(
  'what decides about an addition',
  {
    sql: (size) => `SELECT o.id AS orgId, k.actor_id AS actorId, k.email, o.revision, a.role AS actorRole,
        u.id AS userId, u.email_verified_at AS emailVerifiedAt, t.role AS targetRole,
        EXISTS (SELECT 1 FROM invitations i WHERE i.org_id = o.id AND i.email = k.email AND i.pending = 1)
          AS isInvited
      FROM ${keyTable('SELECT id AS org_id, id AS actor_id, email FROM users', 3, size)}
        JOIN orgs o ON o.id = k.org_id AND o.deleted_at IS NULL
        LEFT JOIN members a ON a.org_id = o.id AND a.user_id = k.actor_id
        LEFT JOIN users u ON u.email = k.email
        LEFT JOIN members t ON t.org_id = o.id AND t.user_id = u.id`,
    ...byColumns('orgId', 'actorId', 'email'),
  },
);

/** NULL while the user `u` may join one more organization; reads at most as many rows as the limit. */
function orgAtLimit(maxOrgs: number): string {
  return `(SELECT x.org_id FROM members x WHERE x.user_id = u.id LIMIT 1 OFFSET ${maxOrgs - 1})`;
}

/** One statement takes the e-mail from the user's row and locks it, so that both hold until COMMIT. */
const insertMember = (maxOrgs: number): string =>
  `SELECT ?, u.id, u.email, ?, ? FROM users u WHERE u.id = ? AND ${orgAtLimit(maxOrgs)} IS NULL`;
hotStatement('the limit of the organizations of a user', insertMember(5000), ['', 'member', 0, '']);
const IS_ENABLED = ' AND u.disabled_at IS NULL';

@Injectable()
export class MembersRepository {
  private readonly memberships: Lookup<MembershipKey, Membership>;
  readonly changeFacts: Lookup<ChangeKey, ChangeKey & ChangeFacts>;
  readonly additionFacts: Lookup<AdditionKey, AdditionKey & AdditionFacts>;

  constructor(@InjectRepository(Member) members: Repository<Member>) {
    this.memberships = new Lookup(FIND_MEMBERSHIPS, members);
    this.changeFacts = new Lookup(FIND_CHANGE_FACTS, members);
    this.additionFacts = new Lookup(FIND_ADDITION_FACTS, members);
  }

  /** undefined: no such organization */
  findMembership(orgId: string, userId: string): Promise<Membership | undefined> {
    return this.memberships.find({ orgId, userId });
  }

  /**
   * False: no such user, an owner who is disabled, or the limit of organizations is reached.
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

  /** False when there is no such member. */
  async updateRole(transaction: Transaction, orgId: string, userId: string, role: Role): Promise<boolean> {
    const updated = await transaction.write('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [
      role,
      orgId,
      userId,
    ]);
    return updated === 1;
  }

  /** Beside all memberships of the user. */
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
}
