import { Injectable } from '@nestjs/common';
import { UserOrgsRepository } from '../orgs/user-orgs.repository.js';
import { cutPage, encodeCursor, limitOf, type LinkNextPage, positionOf } from '../http/pages.js';
import type { ListOwnOrgsQuery } from './me.requests.js';
import type { DeletedOrgsResult, OwnOrgsResult } from './own-account.responses.js';

@Injectable()
export class OwnOrgsService {
  constructor(private readonly orgs: UserOrgsRepository) {}

  async list(userId: string, query: ListOwnOrgsQuery, linkNextPage: LinkNextPage): Promise<OwnOrgsResult> {
    const limit = limitOf(query);
    const rows = await this.orgs.findPage(userId, limit + 1, positionOf(query));
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    const orgs = page.map(({ id, name, role, joinedAt }) => ({
      id,
      name,
      role,
      joinedAt: timeOf(joinedAt),
    }));
    return { orgs, ...next };
  }

  async listDeleted(
    userId: string,
    query: ListOwnOrgsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<DeletedOrgsResult> {
    const limit = limitOf(query);
    const rows = await this.orgs.findDeleted(userId, Date.now(), limit + 1, positionOf(query));
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    const orgs = page.map(({ id, name, deletedAt, purgeAt }) => ({
      id,
      name,
      deletedAt: timeOf(deletedAt),
      purgeAt: timeOf(purgeAt),
    }));
    return { orgs, ...next };
  }
}

function cursorOf({ joinedAt, id }: { joinedAt: number; id: string }): string {
  return encodeCursor({ order: joinedAt, id });
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
