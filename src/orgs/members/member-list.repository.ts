import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../../access/role.js';
import { IS_ALIVE, JOIN_USER_PARENT_AND_SERVICE } from '../../auth/sessions/alive.js';
import { BatchedQueries } from '../../database/batched-queries.js';
import { hotStatement } from '../../database/hot-statements.js';
import { padded, places } from '../../database/lookup.js';
import type { Position } from '../../http/pages.js';
import { Member } from './member.entity.js';

export interface ListedMember {
  userId: string;
  email: string;
  role: Role;
}

export interface MemberPage {
  members: ListedMember[];
  next?: Position;
}

export interface Reader {
  orgId: string;
  sessionId: string;
}

interface PositionedMember extends ListedMember {
  joinedAt: number;
}

interface MemberOfOrg extends ListedMember {
  orgId: string;
}

/** longer lists are read in pages */
const MAX_AT_ONCE = 1000;

/** Lists of about this length share a query; longer ones are faster side by side. */
const MAX_SHORT = 100;
const MAX_SHARED_ROWS = 2000;

const MEMBER = 'm.user_id AS userId, m.email, m.role';
const IN_ORDER = 'ORDER BY m.joined_at, m.user_id';

/** The limit is a literal: SQLite plans a statement anew each time a parameter is bound to it. */
const LIST = hotStatement(
  'the member list',
  `SELECT ${MEMBER} FROM members m WHERE m.org_id = ? ${IN_ORDER} LIMIT ${MAX_AT_ONCE + 1}`,
  [''],
);

/** Reads several lists, one after another; the last ones may be cut. */
const findLists = (size: number): string =>
  `SELECT m.org_id AS orgId, ${MEMBER} FROM members m WHERE m.org_id IN (${places(size)})
    ORDER BY m.org_id, m.joined_at, m.user_id LIMIT ${MAX_SHARED_ROWS + 1}`;
hotStatement('several member lists', findLists(2), ['', '']);

/** The plain range on `joined_at` makes the engines use the index. */
const LIST_AFTER = hotStatement(
  'a page of the member list',
  `SELECT ${MEMBER}, m.joined_at AS joinedAt FROM members m
    WHERE m.org_id = ? AND m.joined_at >= ? AND (m.joined_at > ? OR m.user_id > ?) ${IN_ORDER} LIMIT ?`,
  ['', 0, 0, '', 21],
);

const IS_READER = hotStatement(
  'the check of the reader of a member list that is streamed',
  `SELECT r.user_id FROM sessions s ${JOIN_USER_PARENT_AND_SERVICE}
    JOIN members r ON r.org_id = ? AND r.user_id = s.user_id
    JOIN orgs o ON o.id = r.org_id AND o.deleted_at IS NULL
    WHERE s.id = ? AND ${IS_ALIVE}`,
  ['', ''],
);

// Admins first. Only for members: the caller of a refused change may have left meanwhile. LEFT preserves the join
// order where most users are in one organization.
const FIND_SUCCESSORS = hotStatement(
  'who may become the owner',
  `SELECT ${MEMBER} FROM members r JOIN members m ON m.org_id = r.org_id LEFT JOIN users u ON u.id = m.user_id
    WHERE r.org_id = ? AND r.user_id = ? AND m.role <> 'owner' AND u.disabled_at IS NULL
    ORDER BY m.role LIMIT ?`,
  ['', '', 5],
);

const FIND_SESSION = `SELECT s.id FROM sessions s ${JOIN_USER_PARENT_AND_SERVICE} WHERE s.id = ? AND ${IS_ALIVE}`;

const FIND_ORG = 'SELECT id FROM orgs WHERE id = ? AND deleted_at IS NULL';

const FROM_THE_START: Position = { order: 0, id: '' };

@Injectable()
export class MemberListRepository {
  private readonly shortLists = new BatchedQueries((orgIds: string[]) => this.findShort(orgIds));
  /** average of recent lists; the next ones are probably like them */
  private usualLength = 0;

  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  /** @returns undefined for a list too long to hold in memory */
  async findAll(orgId: string): Promise<ListedMember[] | undefined> {
    const areShort = this.usualLength <= MAX_SHORT;
    const list = await (areShort ? this.shortLists.run(orgId) : this.findAlone(orgId));
    return list.length > MAX_AT_ONCE ? undefined : list;
  }

  async findPage(orgId: string, limit: number, after = FROM_THE_START): Promise<MemberPage> {
    const rows = await this.members.query<PositionedMember[]>(LIST_AFTER, valuesOf(orgId, limit, after));
    return pageOf(rows, limit);
  }

  /**
   * Checks the reader after it has read the page, so that nothing in it is newer than the end of their access.
   * @returns undefined once the reader's access has ended
   */
  async findPageFor(
    { orgId, sessionId }: Reader,
    limit: number,
    after = FROM_THE_START,
  ): Promise<MemberPage | undefined> {
    const page = await this.findPage(orgId, limit, after);
    const readers = await this.members.query<unknown[]>(IS_READER, [orgId, sessionId]);
    return readers.length > 0 ? page : undefined;
  }

  private async findShort(orgIds: string[]): Promise<ListedMember[][]> {
    const ids = padded([...new Set(orgIds)], '');
    const rows = await this.members.query<MemberOfOrg[]>(findLists(ids.length), ids);
    if (rows.length > MAX_SHARED_ROWS) return Promise.all(orgIds.map((orgId) => this.findAlone(orgId)));
    const lists = new Map(ids.map((orgId) => [orgId, [] as ListedMember[]]));
    this.usualLength = rows.length / lists.size;
    for (const { orgId, userId, email, role } of rows) lists.get(orgId)?.push({ userId, email, role });
    return orgIds.map((orgId) => lists.get(orgId) ?? []);
  }

  private async findAlone(orgId: string): Promise<ListedMember[]> {
    const list = await this.members.query<ListedMember[]>(LIST, [orgId]);
    this.usualLength = list.length;
    return list;
  }

  findSuccessors(orgId: string, userId: string, limit: number): Promise<ListedMember[]> {
    return this.members.query<ListedMember[]>(FIND_SUCCESSORS, [orgId, userId, limit]);
  }

  async isOrgThere(orgId: string): Promise<boolean> {
    return (await this.members.query<unknown[]>(FIND_ORG, [orgId])).length > 0;
  }

  async isSessionAlive(sessionId: string): Promise<boolean> {
    return (await this.members.query<unknown[]>(FIND_SESSION, [sessionId])).length > 0;
  }
}

function valuesOf(orgId: string, limit: number, { order, id }: Position): unknown[] {
  return [orgId, order, order, id, limit + 1];
}

function pageOf(rows: PositionedMember[], limit: number): MemberPage {
  const members = rows.slice(0, limit).map(({ userId, email, role }) => ({ userId, email, role }));
  const last = rows[limit - 1];
  return rows.length > limit && last
    ? { members, next: { order: last.joinedAt, id: last.userId } }
    : { members };
}
