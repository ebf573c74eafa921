import { Injectable } from '@nestjs/common';
import { UserOrgsRepository } from '../memberships/user-orgs.repository.js';
import { decodeCursor, encodeCursor, type Position } from '../pagination/cursor.js';
import type { LinkNextPage } from '../pagination/next-page.decorator.js';
import { DEFAULT_LIMIT, type ListOwnOrgsQuery } from './dto/list-own-orgs.query.js';
import type { DeletedOrgsResult, OwnOrgsResult } from './dto/own-orgs.responses.js';

@Injectable()
export class OwnOrgsService {
  constructor(private readonly orgs: UserOrgsRepository) {}

  async list(userId: string, query: ListOwnOrgsQuery, linkNextPage: LinkNextPage): Promise<OwnOrgsResult> {
    const { limit, after } = pageOf(query);
    const rows = await this.orgs.findPage(userId, limit + 1, after);
    const orgs = rows.slice(0, limit).map(({ id, name, role, joinedAt }) => ({
      id,
      name,
      role,
      joinedAt: timeOf(joinedAt),
    }));
    return { orgs, ...nextOf(rows, limit, linkNextPage) };
  }

  /** Those that the user can restore. */
  async listDeleted(
    userId: string,
    query: ListOwnOrgsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<DeletedOrgsResult> {
    const { limit, after } = pageOf(query);
    const rows = await this.orgs.findDeleted(userId, Date.now(), limit + 1, after);
    const orgs = rows.slice(0, limit).map(({ id, name, deletedAt, purgeAt }) => ({
      id,
      name,
      deletedAt: timeOf(deletedAt),
      purgeAt: timeOf(purgeAt),
    }));
    return { orgs, ...nextOf(rows, limit, linkNextPage) };
  }
}

function pageOf({ limit, cursor }: ListOwnOrgsQuery): { limit: number; after: Position | undefined } {
  return {
    limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
    after: cursor === undefined ? undefined : decodeCursor(cursor),
  };
}

/** @param rows one more than the page, where there are more */
function nextOf(
  rows: readonly { id: string; joinedAt: number }[],
  limit: number,
  linkNextPage: LinkNextPage,
): { nextCursor?: string } {
  const last = rows[limit - 1];
  if (rows.length <= limit || !last) return {};
  const nextCursor = encodeCursor({ order: last.joinedAt, id: last.id });
  linkNextPage(nextCursor);
  return { nextCursor };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
