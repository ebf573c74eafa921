import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { hotStatement } from '../../database/hot-statements.js';
import type { NamedPosition } from '../../http/pages.js';
import { Org } from './org.entity.js';

export type ListedOrg = Pick<Org, 'id' | 'name' | 'createdAt' | 'deletedAt' | 'purgeAt'>;

/** Organizations whose name begins with the prefix, in its order. Names are compared as they are written. */
export interface OrgSearch {
  prefix: string;
  after: NamedPosition | undefined;
}

/** No name contains the last code point. */
const END = '\u{10ffff}';

/** The plain range on the name makes the engines use the index. */
const pageBy = (column: string): string => `SELECT id, name, created_at AS createdAt,
    deleted_at AS deletedAt, purge_at AS purgeAt
  FROM orgs WHERE ${column} >= ? AND ${column} < ? AND (${column} > ? OR id > ?)
  ORDER BY ${column}, id LIMIT ?`;

const EXAMPLE = ['Org 1', 'Org 2', 'Org 1', '', 21];
const FIND_PAGE = hotStatement('a page of organizations', pageBy('name'), EXAMPLE);
const FIND_DELETED = hotStatement('a page of deleted organizations', pageBy('deleted_name'), EXAMPLE);

@Injectable()
export class OrgListRepository {
  constructor(@InjectRepository(Org) private readonly orgs: Repository<Org>) {}

  findPage(search: OrgSearch, limit: number): Promise<ListedOrg[]> {
    return this.find(FIND_PAGE, search, limit);
  }

  findDeleted(search: OrgSearch, limit: number): Promise<ListedOrg[]> {
    return this.find(FIND_DELETED, search, limit);
  }

  private find(sql: string, { prefix, after }: OrgSearch, limit: number): Promise<ListedOrg[]> {
    const { name, id } = after?.name.startsWith(prefix) ? after : { name: prefix, id: '' };
    return this.orgs.query<ListedOrg[]>(sql, [name, prefix + END, name, id, limit]);
  }
}
