import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../access/role.js';
import { hotStatement } from '../database/hot-statements.js';
import { Member } from './member.entity.js';
import type { ListedMember } from './member-list.repository.js';

export interface MemberSearch {
  orgId: string;
  /** the beginning of canonical e-mails */
  prefix: string;
  role: Role | undefined;
  /** e-mail of the last member of the page before */
  after: string | undefined;
}

export interface FoundMember extends ListedMember {
  /** epoch milliseconds */
  joinedAt: number;
}

/** The first character that an e-mail can have, and what follows the last. */
const FIRST = '!';
const END = '\u007f';

/** By e-mail, which is unique in an organization. One bound on each side: with more, SQLite takes the other index. */
const find = (of: string): string => `SELECT m.user_id AS userId, m.email, m.role FROM members m
  WHERE ${of} AND m.email >= ? AND m.email < ? ORDER BY m.email LIMIT ?`;
const FIND = hotStatement('a search of members', find('m.org_id = ?'), ['', 'u1', 'u2', 21]);
const FIND_WITH_ROLE = hotStatement('a search of members of a role', find('m.org_id = ? AND m.role = ?'), [
  '',
  'owner',
  'u1',
  'u2',
  21,
]);

const FIND_ONE = hotStatement(
  'a member',
  `SELECT m.user_id AS userId, m.email, m.role, m.joined_at AS joinedAt FROM members m
    WHERE m.org_id = ? AND m.user_id = ?`,
  ['', ''],
);

@Injectable()
export class MemberSearchRepository {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  /** In order of the e-mail. */
  find({ orgId, prefix, role, after }: MemberSearch, limit: number): Promise<ListedMember[]> {
    const from = after === undefined || after < prefix ? prefix : after + FIRST;
    const range = [from, prefix + END, limit];
    return role === undefined
      ? this.members.query<ListedMember[]>(FIND, [orgId, ...range])
      : this.members.query<ListedMember[]>(FIND_WITH_ROLE, [orgId, role, ...range]);
  }

  async findOne(orgId: string, userId: string): Promise<FoundMember | undefined> {
    return (await this.members.query<FoundMember[]>(FIND_ONE, [orgId, userId]))[0];
  }
}
