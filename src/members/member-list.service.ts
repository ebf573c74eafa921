import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { IS_ALIVE, WITH_PARENT } from '../auth/sessions/alive.js';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import type { Problem } from '../problems/problem.js';
import type { ListMembersQuery } from './dto/list-members.query.js';
import type { ListedMemberResponse, MemberListResponse } from './dto/member.responses.js';
import { Member } from '../memberships/member.entity.js';
import type { LinkNextPage } from './next-page.decorator.js';
import { decodeCursor, type MemberCursor } from './member-cursor.js';
import { NotAMemberError } from '../memberships/memberships.errors.js';
import { wholeList } from './whole-list.js';

interface PositionedMember extends ListedMemberResponse {
  joinedAt: number;
}

interface NoMember {
  userId: null;
}

/** Who reads a list, by the session that lets him. */
export interface Reader {
  orgId: string;
  sessionId: string;
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

/**
 * The same page for a reader who may still read it: no row where the session or the membership has ended, one
 * without a user where nobody is left to list.
 */
export const LIST_MEMBERS_FOR_READER = `SELECT page.*
  FROM sessions s ${WITH_PARENT} JOIN members r ON r.org_id = ? AND r.user_id = s.user_id
  LEFT JOIN (${LIST_MEMBERS_AFTER}) page ON 1 = 1
  WHERE s.id = ? AND ${IS_ALIVE}`;

const FIND_SESSION = `SELECT s.id FROM sessions s ${WITH_PARENT} WHERE s.id = ? AND ${IS_ALIVE}`;

const FROM_THE_START: MemberCursor = { joinedAt: 0, userId: '' };

/** The members of an organization by the time they joined, then by user id. */
@Injectable()
export class MemberListService {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  /** One page where a limit is given, else the whole list. */
  async answer(
    reader: Reader,
    { limit, cursor }: ListMembersQuery,
    linkNextPage: LinkNextPage,
  ): Promise<MemberListResponse> {
    if (limit === undefined) return wholeList(this, reader, (members) => ({ members }));
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const { members, next } = await this.findPage(reader.orgId, Number(limit), after);
    if (next) linkNextPage(next);
    return { members };
  }

  /** undefined: there are too many to hold them all in memory */
  async findAll(orgId: string): Promise<ListedMemberResponse[] | undefined> {
    const rows = await this.members.query<ListedMemberResponse[]>(LIST_MEMBERS, [orgId]);
    return rows.length > MOST_AT_ONCE ? undefined : rows;
  }

  async findPage(orgId: string, limit: number, after = FROM_THE_START): Promise<MemberPage> {
    const rows = await this.members.query<PositionedMember[]>(
      LIST_MEMBERS_AFTER,
      valuesOf(orgId, limit, after),
    );
    return pageOf(rows, limit);
  }

  /** undefined: the reader may not read it any more */
  async findPageFor(
    { orgId, sessionId }: Reader,
    limit: number,
    after = FROM_THE_START,
  ): Promise<MemberPage | undefined> {
    const rows = await this.members.query<(PositionedMember | NoMember)[]>(LIST_MEMBERS_FOR_READER, [
      orgId,
      ...valuesOf(orgId, limit, after),
      sessionId,
    ]);
    if (rows.length === 0) return undefined;
    // What a subquery has ordered may come in any order.
    return pageOf(rows.filter(isSomebody).toSorted(byPlace), limit);
  }

  /** Why there is no page for the reader. */
  async findRefusal({ sessionId }: Reader): Promise<Problem> {
    const [session] = await this.members.query<unknown[]>(FIND_SESSION, [sessionId]);
    return session === undefined ? new InvalidTokenError() : new NotAMemberError();
  }
}

function valuesOf(orgId: string, limit: number, { joinedAt, userId }: MemberCursor): unknown[] {
  return [orgId, joinedAt, joinedAt, userId, limit + 1];
}

function pageOf(rows: PositionedMember[], limit: number): MemberPage {
  const members = rows.slice(0, limit).map(({ userId, email, role }) => ({ userId, email, role }));
  const last = rows[limit - 1];
  return rows.length > limit && last
    ? { members, next: { joinedAt: last.joinedAt, userId: last.userId } }
    : { members };
}

function isSomebody(row: PositionedMember | NoMember): row is PositionedMember {
  return row.userId !== null;
}

function byPlace(one: PositionedMember, other: PositionedMember): number {
  return one.joinedAt - other.joinedAt || (one.userId < other.userId ? -1 : 1);
}
