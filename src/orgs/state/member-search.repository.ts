import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { type Role, ROLES } from '../../access/principal.js';
import { hotStatement } from '../../database/hot-statements.js';
import { emailRange } from '../../users/email-address.js';
import { Member } from './member.entity.js';
import type { ListedMember } from './member-list.repository.js';

export interface MemberSearch {
  orgId: string;
  prefix: string;
  role: Role | undefined;
  after: string | undefined;
}

export interface FoundMember extends ListedMember {
  /** epoch milliseconds */
  joinedAt: number;
}

const FIND = hotStatement(
  'a search of members of a role',
  `SELECT m.user_id AS userId, m.email, m.role FROM members m
    WHERE m.org_id = ? AND m.role = ? AND m.email >= ? AND m.email < ? ORDER BY m.email LIMIT ?`,
  ['', 'owner', 'u1', 'u2', 21],
);

const FIND_ONE = hotStatement(
  'a member',
  `SELECT m.user_id AS userId, m.email, m.role, m.joined_at AS joinedAt FROM members m
    WHERE m.org_id = ? AND m.user_id = ?`,
  ['', ''],
);

@Injectable()
export class MemberSearchRepository {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  /** Each role is a range of the one index; a second index would cost every change. */
  async find({ orgId, prefix, role, after }: MemberSearch, limit: number): Promise<ListedMember[]> {
    const range = emailRange(prefix, after);
    const roles = role === undefined ? ROLES : [role];
    const found = await Promise.all(
      roles.map((one) => this.members.query<ListedMember[]>(FIND, [orgId, one, ...range, limit])),
    );
    const inOrder = found.flat().toSorted((a, b) => (a.email < b.email ? -1 : 1));
    return inOrder.slice(0, limit);
  }

  async findOne(orgId: string, userId: string): Promise<FoundMember | undefined> {
    return (await this.members.query<FoundMember[]>(FIND_ONE, [orgId, userId]))[0];
  }
}
