import { Injectable } from '@nestjs/common';
import { UserSessionsRepository } from '../../auth/sessions/user-sessions.repository.js';
import { sessionView } from '../../me/own-session-views.js';
import type { ListOwnOrgsQuery } from '../../me/me.requests.js';
import { UserOrgsRepository } from '../../orgs/user-orgs.repository.js';
import {
  cutPage,
  decodeTextCursor,
  encodeCursor,
  encodeTextCursor,
  limitOf,
  linkNext,
  type LinkNextPage,
  positionOf,
} from '../../http/pages.js';
import { filteredPage } from '../../http/filtered-page.js';
import { type ListedUser, UserListRepository } from '../../users/user-list.repository.js';
import { type UserProfile, UsersRepository } from '../../users/users.repository.js';
import { NoSuchUserError } from '../operators.errors.js';
import type { ListUsersQuery } from './dto/list-users.query.js';
import type {
  AccountOrgsResult,
  AccountSessionsResult,
  AccountListResult,
  ListedAccount,
  ShownAccountResult,
} from './dto/user-lookup.responses.js';

@Injectable()
export class UserLookups {
  constructor(
    private readonly users: UsersRepository,
    private readonly lists: UserListRepository,
    private readonly sessions: UserSessionsRepository,
    private readonly orgs: UserOrgsRepository,
  ) {}

  async list(query: ListUsersQuery, linkNextPage: LinkNextPage): Promise<AccountListResult> {
    const { search: prefix = '', status, cursor } = query;
    const start = cursor === undefined ? undefined : decodeTextCursor(cursor);
    const isWanted = ({ disabledAt }: ListedUser): boolean =>
      status === undefined || (disabledAt !== null) === (status === 'disabled');
    const { rows, last } = await filteredPage({ limit: limitOf(query), isWanted }, (size, after) => {
      const search = { prefix, after: after?.email ?? start };
      return status === 'disabled'
        ? this.lists.findDisabled(search, size)
        : this.lists.findPage(search, size);
    });
    return { users: rows.map(accountView), ...linkNext(last && encodeTextCursor(last.email), linkNextPage) };
  }

  /** @throws NoSuchUserError */
  async show(userId: string): Promise<ShownAccountResult> {
    const user = await this.find(userId);
    return { user: { ...accountView(user), passwordChangedAt: timeOrNull(user.passwordChangedAt) } };
  }

  /** @throws NoSuchUserError */
  async listSessions(userId: string): Promise<AccountSessionsResult> {
    const { id } = await this.find(userId);
    return { sessions: (await this.sessions.listAlive(id)).map(sessionView) };
  }

  /** @throws NoSuchUserError */
  async listOrgs(
    userId: string,
    query: ListOwnOrgsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<AccountOrgsResult> {
    const { id: ofUser } = await this.find(userId);
    const limit = limitOf(query);
    const rows = await this.orgs.findPageEvenDeleted(ofUser, limit + 1, positionOf(query));
    const cursorOf = (org: { id: string; joinedAt: number }): string =>
      encodeCursor({ order: org.joinedAt, id: org.id });
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    const orgs = page.map(({ id, name, role, joinedAt, deletedAt }) => ({
      id,
      name,
      role,
      joinedAt: new Date(joinedAt).toISOString(),
      deletedAt: timeOrNull(deletedAt),
    }));
    return { orgs, ...next };
  }

  private async find(id: string): Promise<UserProfile> {
    const user = await this.users.findById(id);
    if (!user) throw new NoSuchUserError();
    return user;
  }
}

function accountView(user: ListedUser): ListedAccount {
  const { id, email, emailVerifiedAt, createdAt, disabledAt, operatorSince, secondFactorAt } = user;
  return {
    id,
    email,
    emailVerified: emailVerifiedAt !== null,
    createdAt: new Date(createdAt).toISOString(),
    disabledAt: timeOrNull(disabledAt),
    operator: operatorSince !== null,
    secondFactor: secondFactorAt !== null,
  };
}

function timeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
