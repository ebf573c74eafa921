import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../../access/principal.js';
import { hotStatement } from '../../database/hot-statements.js';
import type { Position } from '../../http/pages.js';
import { Member } from './member.entity.js';
import type { Org } from './org.entity.js';

/** Times are epoch milliseconds. */
export interface UserOrg {
  id: string;
  name: string;
  role: Role;
  joinedAt: number;
}

export interface DeletedOrg {
  id: string;
  name: string;
  joinedAt: number;
  deletedAt: number;
  purgeAt: number;
}

// LEFT preserves the join order where one user is in most organizations, as long as no condition rules NULL out by
// itself (hence COALESCE); the plain range on `joined_at` makes the engines use the index.
const pageOf = (
  columns: string,
  condition: string,
): string => `SELECT o.id, o.name, ${columns}, m.joined_at AS joinedAt
  FROM members m LEFT JOIN orgs o ON o.id = m.org_id
  WHERE m.user_id = ? AND m.joined_at >= ? AND (m.joined_at > ? OR m.org_id > ?) AND ${condition}
  ORDER BY m.joined_at, m.org_id LIMIT ?`;

const FIND_PAGE = hotStatement(
  'a page of the organizations of a user',
  pageOf('m.role', 'o.deleted_at IS NULL'),
  ['', 0, 0, '', 21],
);

const FIND_DELETED = hotStatement(
  'a page of the deleted organizations of a user',
  pageOf(
    'o.deleted_at AS deletedAt, o.purge_at AS purgeAt',
    "m.role = 'owner' AND COALESCE(o.purge_at, 0) > ? AND o.purge_began_at IS NULL",
  ),
  ['', 0, 0, '', 0, 21],
);

const FIND_EVEN_DELETED = hotStatement(
  'a page of the organizations of a user, deleted ones too',
  pageOf('m.role, o.deleted_at AS deletedAt', '1 = 1'),
  ['', 0, 0, '', 21],
);

const FROM_THE_START: Position = { order: 0, id: '' };

@Injectable()
export class UserOrgsRepository {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  findPage(userId: string, limit: number, { order, id } = FROM_THE_START): Promise<UserOrg[]> {
    return this.members.query<UserOrg[]>(FIND_PAGE, [userId, order, order, id, limit]);
  }

  findPageEvenDeleted(
    userId: string,
    limit: number,
    { order, id } = FROM_THE_START,
  ): Promise<(UserOrg & Pick<Org, 'deletedAt'>)[]> {
    return this.members.query(FIND_EVEN_DELETED, [userId, order, order, id, limit]);
  }

  /** Finds organizations that the user can restore. */
  findDeleted(
    userId: string,
    now: number,
    limit: number,
    { order, id } = FROM_THE_START,
  ): Promise<DeletedOrg[]> {
    return this.members.query<DeletedOrg[]>(FIND_DELETED, [userId, order, order, id, now, limit]);
  }
}
