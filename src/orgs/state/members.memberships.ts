import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role, UserPrincipal } from '../../access/principal.js';
import { FROM_THE_START } from '../../http/pages.js';
import { Member } from './org.entity.js';
import { IS_FACTOR_REQUIRED } from './orgs.repository.js';

export interface ListedMembership {
  orgId: string;
  userId: string;
  role: Role;
  orgRevision: number;
  /** time from which a second factor is required; null if none is, or if the time has come */
  secondFactorFrom: number | null;
  joinedAt: number;
}

// LEFT preserves the join order if most users are in one organization; the plain range makes the engines use the index.
const find = (condition: string): string => `SELECT m.org_id AS orgId, m.user_id AS userId, m.role,
    o.revision AS orgRevision, m.joined_at AS joinedAt,
    CASE WHEN ${IS_FACTOR_REQUIRED} THEN NULL ELSE o.second_factor_from END AS secondFactorFrom
  FROM members m LEFT JOIN orgs o ON o.id = m.org_id LEFT JOIN users u ON u.id = m.user_id
  WHERE ${condition} AND o.deleted_at IS NULL AND u.disabled_at IS NULL
    AND (u.second_factor_at IS NOT NULL OR NOT ${IS_FACTOR_REQUIRED})`;

const pageIn = (list: string, tieBreaker: string): string =>
  `${find(`${list} = ? AND m.joined_at >= ? AND (m.joined_at > ? OR ${tieBreaker} > ?)`)}
    ORDER BY m.joined_at, ${tieBreaker} LIMIT ?`;

interface NamedMembership {
  id: string;
  name: string;
  role: Role;
  joinedAt: number;
}

export type UserOrg = NamedMembership & {
  /** the time from which a second factor is required, also if it has come; null if none is */
  secondFactorFrom: number | null;
  isFactorRequired: 0 | 1;
};

export type AnyUserOrg = NamedMembership & { deletedAt: number | null };

type DeletedOrg = Omit<NamedMembership, 'role'> & { deletedAt: number; purgeAt: number };

// LEFT and COALESCE preserve the join order if one user is in most organizations.
const pageOf = (
  columns: string,
  condition: string,
): string => `SELECT o.id, o.name, ${columns}, m.joined_at AS joinedAt
  FROM members m LEFT JOIN orgs o ON o.id = m.org_id
  WHERE m.user_id = ? AND m.joined_at >= ? AND (m.joined_at > ? OR m.org_id > ?) AND ${condition}
  ORDER BY m.joined_at, m.org_id LIMIT ?`;

const ALL = 2 ** 31 - 1;

export type OrgsReader = Pick<UserPrincipal, 'id' | 'audience' | 'hasSecondFactor'>;

export function seesAll({ audience, hasSecondFactor }: OrgsReader): boolean {
  return audience === null || hasSecondFactor;
}

@Injectable()
export class MembershipsRepository {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  listOfOrg(orgId: string, limit: number, { order, id } = FROM_THE_START): Promise<ListedMembership[]> {
    const sql = pageIn('m.org_id', 'm.user_id');
    return this.members.query<ListedMembership[]>(sql, [orgId, order, order, id, limit]);
  }

  listOfUser(userId: string, limit: number, { order, id } = FROM_THE_START): Promise<ListedMembership[]> {
    const sql = pageIn('m.user_id', 'm.org_id');
    return this.members.query<ListedMembership[]>(sql, [userId, order, order, id, limit]);
  }

  findOne(orgId: string, userId: string): Promise<ListedMembership[]> {
    const sql = find('m.org_id = ? AND m.user_id = ?');
    return this.members.query<ListedMembership[]>(sql, [orgId, userId]);
  }

  /** Leaves out organizations that suspend the user for a token for one service. */
  findOrgs(caller: OrgsReader, limit: number, { order, id } = FROM_THE_START): Promise<UserOrg[]> {
    const isListed = `o.deleted_at IS NULL${seesAll(caller) ? '' : ` AND NOT ${IS_FACTOR_REQUIRED}`}`;
    const columns = `m.role, o.second_factor_from AS secondFactorFrom, ${IS_FACTOR_REQUIRED} AS isFactorRequired`;
    const sql = pageOf(columns, isListed);
    return this.members.query<UserOrg[]>(sql, [caller.id, order, order, id, limit]);
  }

  findOrgsEvenDeleted(userId: string, limit = ALL, { order, id } = FROM_THE_START): Promise<AnyUserOrg[]> {
    const sql = pageOf('m.role, o.deleted_at AS deletedAt', '1 = 1');
    return this.members.query(sql, [userId, order, order, id, limit]);
  }

  findDeletedOrgs(userId: string, limit: number, { order, id } = FROM_THE_START): Promise<DeletedOrg[]> {
    const columns = 'o.deleted_at AS deletedAt, o.purge_at AS purgeAt';
    const isListed = "m.role = 'owner' AND COALESCE(o.purge_at, 0) > ? AND o.purge_began_at IS NULL";
    const values = [userId, order, order, id, Date.now(), limit];
    return this.members.query<DeletedOrg[]>(pageOf(columns, isListed), values);
  }
}
