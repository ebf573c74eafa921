import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThan, type Repository } from 'typeorm';
import type { Role } from '../../access/principal.js';
import { hotStatement } from '../../database/hot-statements.js';
import { inBatches, places } from '../../database/batches.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { Member } from './member.entity.js';
import { Org } from './org.entity.js';

/** Times are epoch milliseconds. */
export interface OrgWithRole {
  id: string;
  name: string;
  role: Role;
  joinedAt: number;
  deletedAt: number | null;
}

/** A membership of somebody who leaves all of them, or can act in none, at one revision of the organization. */
export interface Departure {
  orgId: string;
  name: string;
  role: Role;
  revision: number;
  /** whether there is an enabled owner besides that member */
  hasOtherOwner: 0 | 1;
  hasOtherMember: 0 | 1;
  isDeleted: 0 | 1;
  /** whether invitations by that member are pending */
  isInviter: 0 | 1;
}

// Whether an organization has an enabled owner besides the user; both parameters are SQL. By the index of roles the
// engines read the few owners alone; their statistics do not show that these are few, and by another index they read
// all members. MySQL takes that index for the hint, a comment to the others, which take it for the ORDER BY.
export function hasOtherOwner(org: string, user: string): string {
  return `(SELECT /*+ INDEX(w members_org_id_role_email_idx) */ 1
    FROM members w JOIN users v ON v.id = w.user_id
    WHERE w.org_id = ${org} AND w.role = 'owner' AND w.user_id <> ${user} AND v.disabled_at IS NULL
    ORDER BY w.org_id, w.role, w.email LIMIT 1) IS NOT NULL`;
}

/** Whether invitations by the user are pending; both parameters are SQL. */
export function isInviter(org: string, user: string): string {
  return `EXISTS (SELECT 1 FROM invitations i
    WHERE i.org_id = ${org} AND i.invited_by = ${user} AND i.pending = 1)`;
}

const FIND_DEPARTURES = hotStatement(
  'the memberships of a user who is deleted or disabled',
  `SELECT m.org_id AS orgId, o.name, m.role, o.revision, o.deleted_at IS NOT NULL AS isDeleted,
      ${hasOtherOwner('m.org_id', 'm.user_id')} AS hasOtherOwner,
      EXISTS (SELECT 1 FROM members x WHERE x.org_id = m.org_id AND x.user_id <> m.user_id) AS hasOtherMember,
      ${isInviter('m.org_id', 'm.user_id')} AS isInviter
    FROM members m LEFT JOIN orgs o ON o.id = m.org_id WHERE m.user_id = ?`,
  [''],
);

const FIND_ENABLED_OWNER = hotStatement(
  'an enabled owner of an organization',
  `SELECT m.user_id AS id FROM members m JOIN users u ON u.id = m.user_id
    WHERE m.org_id = ? AND m.role = 'owner' AND u.disabled_at IS NULL
    ORDER BY m.org_id, m.role, m.email LIMIT 1`,
  [''],
);

@Injectable()
export class OwnershipRepository {
  constructor(
    @InjectRepository(Member) private readonly members: Repository<Member>,
    @InjectRepository(Org) private readonly orgs: Repository<Org>,
  ) {}

  findOrg(id: string): Promise<Org | null> {
    return this.orgs.findOneBy({ id });
  }

  /** Includes deleted organizations, in the order in which they were created. */
  findPage(limit: number, afterId = ''): Promise<Org[]> {
    return this.orgs.find({ where: { id: MoreThan(afterId) }, order: { id: 'ASC' }, take: limit });
  }

  findNamed(name: string, limit: number): Promise<Org[]> {
    return this.orgs.find({ where: { name }, order: { id: 'ASC' }, take: limit });
  }

  async withNames<Of extends Pick<Org, 'id'>>(orgs: readonly Of[]): Promise<(Of & Pick<Org, 'name'>)[]> {
    const names = new Map<string, string>();
    for await (const batch of inBatches(orgs.map(({ id }) => id))) {
      const found = await this.orgs.find({ where: { id: In([...batch]) }, select: { id: true, name: true } });
      for (const { id, name } of found) names.set(id, name);
    }
    return orgs.map((org) => ({ ...org, name: names.get(org.id) ?? '' }));
  }

  findOrgsOf(userId: string): Promise<OrgWithRole[]> {
    return this.members.query<OrgWithRole[]>(
      `SELECT o.id, o.name, m.role, m.joined_at AS joinedAt, o.deleted_at AS deletedAt
        FROM members m JOIN orgs o ON o.id = m.org_id
        WHERE m.user_id = ? ORDER BY m.joined_at, m.org_id`,
      [userId],
    );
  }

  /** Includes deleted organizations. */
  async findOrgIdsOf(userId: string): Promise<string[]> {
    return (await this.findOrgsOf(userId)).map(({ id }) => id);
  }

  findDepartures(transaction: Transaction, userId: string): Promise<Departure[]> {
    return transaction.read<Departure>(FIND_DEPARTURES + transaction.forUpdate, [userId]);
  }

  async deleteMembers(transaction: Transaction, userId: string, orgIds: readonly string[]): Promise<void> {
    for await (const batch of inBatches(orgIds)) {
      await transaction.write(
        `DELETE FROM members WHERE user_id = ? AND org_id IN (${places(batch.length)})`,
        [userId, ...batch],
      );
    }
  }

  /** The caller holds the lock of the organization, for which disabling an owner waits. */
  async hasEnabledOwner(transaction: Transaction, orgId: string): Promise<boolean> {
    return (await transaction.read<unknown>(FIND_ENABLED_OWNER, [orgId])).length > 0;
  }

  countByRole(orgId: string): Promise<{ role: Role; members: number }[]> {
    return this.members.query<{ role: Role; members: number }[]>(
      'SELECT role, COUNT(*) AS members FROM members WHERE org_id = ? GROUP BY role',
      [orgId],
    );
  }
}
