import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { ListMembersQuery } from './dto/list-members.query.js';
import type { ListedMemberResponse, MemberListResponse } from './dto/member.responses.js';
import { Member } from './member.entity.js';
import type { LinkNextPage } from './next-page.decorator.js';
import { decodeCursor, type MemberCursor } from './member-cursor.js';
import { wholeList } from './whole-list.js';

interface PositionedMember extends ListedMemberResponse {
  joinedAt: number;
}

export interface MemberPage {
  members: ListedMemberResponse[];
  /** where the next page begins; none after the last one */
  next?: MemberCursor;
}

/**
 * Every member is a user. LEFT keeps the order of the join: where most users are in one organization, an
 * optimizer would else read all users and sort.
 */
const FROM_MEMBERS = 'FROM members m LEFT JOIN users u ON u.id = m.user_id WHERE m.org_id = ?';
const IN_ORDER = 'ORDER BY m.joined_at, m.user_id';

/** More members than this are read in pages. */
const MOST_AT_ONCE = 1000;

/** The limit is a literal: SQLite plans a statement anew each time a parameter is bound to it. */
export const LIST_MEMBERS = `SELECT m.user_id AS userId, u.email, m.role
  ${FROM_MEMBERS} ${IN_ORDER} LIMIT ${MOST_AT_ONCE + 1}`;

/** The range on `joined_at` alone is what the index is entered by. */
export const LIST_MEMBERS_AFTER = `SELECT m.user_id AS userId, u.email, m.role, m.joined_at AS joinedAt
  ${FROM_MEMBERS} AND m.joined_at >= ? AND (m.joined_at > ? OR m.user_id > ?) ${IN_ORDER} LIMIT ?`;

const FROM_THE_START: MemberCursor = { joinedAt: 0, userId: '' };

/** The members of an organization by the time they joined, then by user id. */
@Injectable()
export class MemberListService {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  /** One page where a limit is given, else the whole list. */
  async answer(
    orgId: string,
    { limit, cursor }: ListMembersQuery,
    linkNextPage: LinkNextPage,
  ): Promise<MemberListResponse> {
    if (limit === undefined) return wholeList(this, orgId, (members) => ({ members }));
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const { members, next } = await this.findPage(orgId, Number(limit), after);
    if (next) linkNextPage(next);
    return { members };
  }

  /** undefined: there are too many to hold them all in memory */
  async findAll(orgId: string): Promise<ListedMemberResponse[] | undefined> {
    const rows = await this.members.query<ListedMemberResponse[]>(LIST_MEMBERS, [orgId]);
    return rows.length > MOST_AT_ONCE ? undefined : rows;
  }

  async findPage(orgId: string, limit: number, after = FROM_THE_START): Promise<MemberPage> {
    const rows = await this.members.query<PositionedMember[]>(LIST_MEMBERS_AFTER, [
      orgId,
      after.joinedAt,
      after.joinedAt,
      after.userId,
      limit + 1,
    ]);
    const members = rows.slice(0, limit).map(({ userId, email, role }) => ({ userId, email, role }));
    const last = rows[limit - 1];
    return rows.length > limit && last
      ? { members, next: { joinedAt: last.joinedAt, userId: last.userId } }
      : { members };
  }
}
