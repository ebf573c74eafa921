import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../../access/principal.js';
import { hotStatement } from '../../database/hot-statements.js';
import type { Position } from '../../http/pages.js';
import { Member } from './member.entity.js';

export interface ListedMembership {
  orgId: string;
  userId: string;
  role: Role;
  orgRevision: number;
  /** epoch milliseconds */
  joinedAt: number;
}

// LEFT preserves the join order where most users are in one organization, as long as no condition rules NULL out by
// itself; the plain range on `joined_at` makes the engines use the index.
const find = (condition: string): string => `SELECT m.org_id AS orgId, m.user_id AS userId, m.role,
    o.revision AS orgRevision, m.joined_at AS joinedAt
  FROM members m LEFT JOIN orgs o ON o.id = m.org_id LEFT JOIN users u ON u.id = m.user_id
  WHERE ${condition} AND o.deleted_at IS NULL AND u.disabled_at IS NULL`;

const pageOf = (list: string, place: string): string =>
  `${find(`${list} = ? AND m.joined_at >= ? AND (m.joined_at > ? OR ${place} > ?)`)}
    ORDER BY m.joined_at, ${place} LIMIT ?`;

const FIND_OF_ORG = hotStatement(
  'a page of the memberships in an organization',
  pageOf('m.org_id', 'm.user_id'),
  ['', 0, 0, '', 21],
);

const FIND_OF_USER = hotStatement('a page of the memberships of a user', pageOf('m.user_id', 'm.org_id'), [
  '',
  0,
  0,
  '',
  21,
]);

const FIND_ONE = hotStatement('one membership', find('m.org_id = ? AND m.user_id = ?'), ['', '']);

const FROM_THE_START: Position = { order: 0, id: '' };

/** Lists memberships that count: of users who are enabled, in organizations that are not deleted. */
@Injectable()
export class MembershipListRepository {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  findOfOrg(orgId: string, limit: number, { order, id } = FROM_THE_START): Promise<ListedMembership[]> {
    return this.members.query<ListedMembership[]>(FIND_OF_ORG, [orgId, order, order, id, limit]);
  }

  findOfUser(userId: string, limit: number, { order, id } = FROM_THE_START): Promise<ListedMembership[]> {
    return this.members.query<ListedMembership[]>(FIND_OF_USER, [userId, order, order, id, limit]);
  }

  /** Returns none or one. */
  findOne(orgId: string, userId: string): Promise<ListedMembership[]> {
    return this.members.query<ListedMembership[]>(FIND_ONE, [orgId, userId]);
  }
}
