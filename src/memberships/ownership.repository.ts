import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../access/role.js';
import { hotStatement } from '../database/hot-statements.js';
import { inBatches } from '../database/in-batches.js';
import { places } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { Member } from './member.entity.js';
import { Org } from './org.entity.js';

/** An organization that somebody belongs to. */
export interface OrgWithRole {
  id: string;
  name: string;
  role: Role;
  /** epoch milliseconds */
  joinedAt: number;
}

/** One that somebody manages. */
export interface ManagedOrg {
  id: string;
  role: Exclude<Role, 'member'>;
  revision: number;
  /** an enabled one, besides that user */
  hasOtherOwner: 0 | 1;
  /** whether invitations of that user are pending */
  invites: 0 | 1;
}

/** A membership of somebody who leaves all of them, at one revision of the organization. */
export interface Departure {
  orgId: string;
  role: Role;
  revision: number;
  /** an enabled owner, besides that member */
  hasOtherOwner: 0 | 1;
  /** of any role */
  hasOtherMember: 0 | 1;
  /** whether invitations of that member are pending */
  invites: 0 | 1;
}

/** What decides whether somebody may become the owner of an organization; null: not a member. */
export interface OwnerFacts {
  revision: number;
  role: Role | null;
  email: string;
  disabledAt: number | null;
}

const HAS_OTHER_OWNER = `EXISTS (SELECT 1 FROM members w JOIN users u ON u.id = w.user_id
    WHERE w.org_id = m.org_id AND w.role = 'owner' AND w.user_id <> m.user_id AND u.disabled_at IS NULL)
    AS hasOtherOwner`;

const INVITES = `EXISTS (SELECT 1 FROM invitations i
    WHERE i.org_id = m.org_id AND i.invited_by = m.user_id AND i.pending = 1) AS invites`;

const FIND_MANAGED = hotStatement(
  'the organizations that a user manages',
  `SELECT m.org_id AS id, m.role, o.revision, ${HAS_OTHER_OWNER}, ${INVITES}
    FROM members m JOIN orgs o ON o.id = m.org_id WHERE m.user_id = ? AND m.role IN ('admin', 'owner')`,
  [''],
);

const FIND_DEPARTURES = hotStatement(
  'the memberships of a user who is deleted',
  `SELECT m.org_id AS orgId, m.role, o.revision, ${HAS_OTHER_OWNER},
      EXISTS (SELECT 1 FROM members x WHERE x.org_id = m.org_id AND x.user_id <> m.user_id) AS hasOtherMember,
      ${INVITES}
    FROM members m LEFT JOIN orgs o ON o.id = m.org_id WHERE m.user_id = ?`,
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

  /** By the time the user joined them. */
  findOrgsOf(userId: string): Promise<OrgWithRole[]> {
    return this.members.query<OrgWithRole[]>(
      `SELECT o.id, o.name, m.role, m.joined_at AS joinedAt FROM members m JOIN orgs o ON o.id = m.org_id
        WHERE m.user_id = ? ORDER BY m.joined_at, m.org_id`,
      [userId],
    );
  }

  /** As admin or owner. */
  findManaged(userId: string): Promise<ManagedOrg[]> {
    return this.members.query<ManagedOrg[]>(FIND_MANAGED, [userId]);
  }

  findManagedIn(transaction: Transaction, userId: string): Promise<ManagedOrg[]> {
    return transaction.read<ManagedOrg>(FIND_MANAGED + transaction.forUpdate, [userId]);
  }

  findDepartures(transaction: Transaction, userId: string): Promise<Departure[]> {
    return transaction.read<Departure>(FIND_DEPARTURES + transaction.forUpdate, [userId]);
  }

  async deleteMembershipsOf(
    transaction: Transaction,
    userId: string,
    orgIds: readonly string[],
  ): Promise<void> {
    for await (const batch of inBatches(orgIds)) {
      await transaction.write(
        `DELETE FROM members WHERE user_id = ? AND org_id IN (${places(batch.length)})`,
        [userId, ...batch],
      );
    }
  }

  /** undefined: there is no such organization or no such user */
  async findOwnerFacts(
    transaction: Transaction,
    orgId: string,
    userId: string,
  ): Promise<OwnerFacts | undefined> {
    const rows = await transaction.read<OwnerFacts>(
      `SELECT o.revision, m.role, u.email, u.disabled_at AS disabledAt FROM orgs o JOIN users u ON u.id = ?
         LEFT JOIN members m ON m.org_id = o.id AND m.user_id = u.id WHERE o.id = ?${transaction.forUpdate}`,
      [userId, orgId],
    );
    return rows[0];
  }

  countByRole(orgId: string): Promise<{ role: Role; members: number }[]> {
    return this.members.query<{ role: Role; members: number }[]>(
      'SELECT role, COUNT(*) AS members FROM members WHERE org_id = ? GROUP BY role',
      [orgId],
    );
  }
}
