import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { type Role, ROLES } from '../../access/principal.js';
import { IS_ALIVE, JOIN_USER_FAMILY_AND_SERVICE } from '../../auth/sessions/alive.js';
import { SharedStatement } from '../../database/shared-statement.js';
import { padded, placeholders } from '../../database/statements.js';
import type { ListPage } from '../../http/list-stream.js';
import { FROM_THE_START } from '../../http/pages.js';
import { Member } from './org.entity.js';
import { IS_FACTOR_REQUIRED } from './orgs.repository.js';
import { emailRange } from '../../users/email-address.js';
import type { Profile } from '../../users/profile.js';

export interface ListedMember {
  userId: string;
  email: string;
  role: Role;
  /** only for operators */
  disabled?: boolean;
  profile?: Pick<Profile, 'name' | 'avatarUrl'>;
}

export interface ListReader {
  orgId: string;
  userId: string;
  sessionId: string;
  hasSecondFactor: boolean;
  withProfile?: boolean;
}

export interface MemberList {
  name: string;
  revision: number;
  secondFactorFrom: number | null;
  members: ListedMember[];
}

/** `long`: too long to hold in memory; `closed`: no member, or suspended, or the organization was deleted */
export type FoundList = ({ kind: 'whole' } & MemberList) | { kind: 'long' } | { kind: 'closed' };

interface FoundReader {
  role: Role;
  isSuspended: 0 | 1;
}

type MemberRow = Omit<ListedMember, 'profile' | 'disabled'> & {
  isDisabled?: 0 | 1;
  profileName?: string | null;
  avatarUrl?: string | null;
};

type DatedRow = MemberRow & { joinedAt: number };

type MemberOfOrg = MemberRow & {
  name: string | null;
  revision: number | null;
  secondFactorFrom: number | null;
  isFactorRequired: 0 | 1;
};

/** A row with a profile can be ten times as long. */
const MAX_AT_ONCE = { plain: 1000, withProfile: 100 };

/** Longer lists are streamed in pages of this length. */
export function maxAtOnce({ withProfile }: ForProfiles): number {
  return withProfile ? MAX_AT_ONCE.withProfile : MAX_AT_ONCE.plain;
}

/** Lists of about this length share a query; longer lists are faster in parallel. */
const MAX_SHORT = 100;
const MAX_SHARED_ROWS = 2000;

const MEMBER = 'm.user_id AS userId, m.email, m.role';
const MEMBERS = 'FROM members m';
const MEMBER_WITH_PROFILE = `${MEMBER}, u.name AS profileName, u.avatar_url AS avatarUrl`;
const MEMBERS_AND_USERS = `${MEMBERS} LEFT JOIN users u ON u.id = m.user_id`;

type ForProfiles = Pick<ListReader, 'withProfile'>;

/** Returns columns and tables. Without profiles, a statement joins no user. */
function selected({ withProfile }: ForProfiles): [columns: string, from: string] {
  return withProfile ? [MEMBER_WITH_PROFILE, MEMBERS_AND_USERS] : [MEMBER, MEMBERS];
}

// One statement has one snapshot, so a list and its reader, whose row alone has the organization, are of one revision.
// LEFT preserves the join order. The limit is a literal, because SQLite plans again for each value of a bound limit.
const listsOf = (size: number, columns = MEMBER, from = MEMBERS): string => `${columns}, o.name, o.revision,
      o.second_factor_from AS secondFactorFrom, ${IS_FACTOR_REQUIRED} AS isFactorRequired
    ${from} LEFT JOIN orgs o ON o.id = m.org_id AND o.deleted_at IS NULL AND m.user_id IN (${placeholders(size)})
    WHERE m.org_id IN (${placeholders(size)}) ORDER BY m.org_id, m.joined_at, m.user_id`;

export interface MemberSearch extends ForProfiles {
  orgId: string;
  prefix: string;
  role: Role | undefined;
  after: string | undefined;
  lacksFactor?: boolean;
  /** whether members have `disabled` */
  withStatus?: boolean;
}

export type FoundMember = ListedMember & { joinedAt: number };

const ABSENT = { orgId: '', userId: '' };

@Injectable()
export class MemberListsRepository {
  private readonly shortLists = new SharedStatement((readers: ListReader[]) => this.findShort(readers));
  private usualLength = 0;

  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  async findAll(reader: ListReader): Promise<FoundList> {
    const areShort = this.usualLength <= MAX_SHORT && !reader.withProfile;
    const rows = await (areShort ? this.shortLists.run(reader) : this.findAlone(reader));
    if (rows.length > maxAtOnce(reader)) return { kind: 'long' };
    const own = rows.find(({ userId }) => userId === reader.userId);
    const { name = null, revision = null, secondFactorFrom = null } = own ?? {};
    if (name === null || revision === null) return { kind: 'closed' };
    if (own?.isFactorRequired && !reader.hasSecondFactor) return { kind: 'closed' };
    return { kind: 'whole', name, revision, secondFactorFrom, members: rows.map(memberOf) };
  }

  /** Checks the reader after the read. Returns undefined if their access has ended. */
  async findPageFor(
    reader: ListReader,
    limit: number,
    { order, id } = FROM_THE_START,
  ): Promise<ListPage<ListedMember> | undefined> {
    const [columns, from] = selected(reader);
    // The plain range on `joined_at` makes the engines use the index.
    const found = await this.members.query<DatedRow[]>(
      `SELECT ${columns}, m.joined_at AS joinedAt ${from}
        WHERE m.org_id = ? AND m.joined_at >= ? AND (m.joined_at > ? OR m.user_id > ?)
        ORDER BY m.joined_at, m.user_id LIMIT ?`,
      [reader.orgId, order, order, id, limit + 1],
    );
    if ((await this.findReader(reader))?.isSuspended !== 0) return undefined;
    const rows = found.slice(0, limit).map(memberOf);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return { rows, ...(last && { next: { order: last.joinedAt, id: last.userId } }) };
  }

  async findReader({ orgId, sessionId }: ListReader): Promise<FoundReader | undefined> {
    const sql = `SELECT r.role, ${IS_FACTOR_REQUIRED} AND u.second_factor_at IS NULL AS isSuspended
      FROM sessions s ${JOIN_USER_FAMILY_AND_SERVICE}
      JOIN members r ON r.org_id = ? AND r.user_id = s.user_id
      JOIN orgs o ON o.id = r.org_id AND o.deleted_at IS NULL
      WHERE s.id = ? AND ${IS_ALIVE}`;
    return (await this.members.query<FoundReader[]>(sql, [orgId, sessionId]))[0];
  }

  findSuccessors(orgId: string, userId: string, limit: number): Promise<ListedMember[]> {
    // Admins first. LEFT preserves the join order if most users are in one organization.
    const sql = `SELECT ${MEMBER} FROM members r JOIN members m ON m.org_id = r.org_id
        LEFT JOIN users u ON u.id = m.user_id
      WHERE r.org_id = ? AND r.user_id = ? AND m.role <> 'owner' AND u.disabled_at IS NULL
      ORDER BY m.role LIMIT ?`;
    return this.members.query<ListedMember[]>(sql, [orgId, userId, limit]);
  }

  async isOrgThere(orgId: string): Promise<boolean> {
    const sql = 'SELECT id FROM orgs WHERE id = ? AND deleted_at IS NULL';
    return (await this.members.query<unknown[]>(sql, [orgId])).length > 0;
  }

  async isSessionAlive(sessionId: string): Promise<boolean> {
    const sql = `SELECT s.id FROM sessions s ${JOIN_USER_FAMILY_AND_SERVICE} WHERE s.id = ? AND ${IS_ALIVE}`;
    return (await this.members.query<unknown[]>(sql, [sessionId])).length > 0;
  }

  async search(search: MemberSearch, limit: number): Promise<ListedMember[]> {
    const { orgId, prefix, role, after } = search;
    const [columns, from] = selected(search);
    const status = search.withStatus ? ', u.disabled_at IS NOT NULL AS isDisabled' : '';
    const tables = search.lacksFactor || search.withStatus ? MEMBERS_AND_USERS : from;
    const and = search.lacksFactor ? 'AND u.second_factor_at IS NULL' : '';
    const sql = `SELECT ${columns}${status} ${tables}
      WHERE m.org_id = ? AND m.role = ? AND m.email >= ? AND m.email < ? ${and} ORDER BY m.email LIMIT ?`;
    const range = emailRange(prefix, after);
    const roles = role === undefined ? ROLES : [role];
    const found = await Promise.all(
      roles.map((one) => this.members.query<MemberRow[]>(sql, [orgId, one, ...range, limit])),
    );
    const inOrder = found.flat().toSorted((a, b) => (a.email < b.email ? -1 : 1));
    return inOrder.slice(0, limit).map(memberOf);
  }

  async findOne(reader: ListReader, userId: string): Promise<FoundMember | undefined> {
    const [columns, from] = selected(reader);
    const sql = `SELECT ${columns}, m.joined_at AS joinedAt ${from} WHERE m.org_id = ? AND m.user_id = ?`;
    const [row] = await this.members.query<DatedRow[]>(sql, [reader.orgId, userId]);
    return row && { ...memberOf(row), joinedAt: row.joinedAt };
  }

  private async findShort(readers: ListReader[]): Promise<MemberOfOrg[][]> {
    const asked = padded(readers, ABSENT);
    const values = [...asked.map(({ userId }) => userId), ...asked.map(({ orgId }) => orgId)];
    type Row = MemberOfOrg & { orgId: string };
    const sql = `SELECT m.org_id AS orgId, ${listsOf(asked.length)} LIMIT ${MAX_SHARED_ROWS + 1}`;
    const rows = await this.members.query<Row[]>(sql, values);
    if (rows.length > MAX_SHARED_ROWS) return Promise.all(readers.map((reader) => this.findAlone(reader)));
    const lists = Map.groupBy(rows, ({ orgId }) => orgId);
    this.usualLength = rows.length / new Set(readers.map(({ orgId }) => orgId)).size;
    return readers.map(({ orgId }) => lists.get(orgId) ?? []);
  }

  private async findAlone(reader: ListReader): Promise<MemberOfOrg[]> {
    const sql = `SELECT ${listsOf(1, ...selected(reader))} LIMIT ${maxAtOnce(reader) + 1}`;
    const rows = await this.members.query<MemberOfOrg[]>(sql, [reader.userId, reader.orgId]);
    this.usualLength = rows.length;
    return rows;
  }
}

function memberOf(row: MemberRow): ListedMember {
  const { userId, email, role, isDisabled, profileName: name = null, avatarUrl } = row;
  if (isDisabled !== undefined) return { userId, email, role, disabled: isDisabled === 1 };
  if (avatarUrl === undefined) return { userId, email, role };
  return { userId, email, role, profile: { name, avatarUrl } };
}
