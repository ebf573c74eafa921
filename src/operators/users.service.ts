import { Injectable } from '@nestjs/common';
import type { SignedInOperator } from '../access/principal.js';
import { UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import type { ListOwnOrgsQuery } from '../me/me.requests.js';
import {
  cutPage,
  decodeTextCursor,
  encodeCursor,
  encodeTextCursor,
  filteredPage,
  limitOf,
  linkNext,
  type LinkNextPage,
  positionOf,
} from '../http/pages.js';
import { sessionView } from '../me/views.js';
import { Memberships } from '../orgs/state/members.memberships.js';
import { requireUnprotected } from '../users/user-changes.js';
import { type ListedUser, type UserProfile, UsersRepository } from '../users/users.repository.js';
import { type ListUsersQuery, NO_SUCH_USER } from './operators.requests.js';
import { timeOrNull, timeText } from '../identifiers/text.js';
import { Problem } from '../problems/problem.js';
import type {
  AccountListResult,
  AccountOrgsResult,
  AccountSessionsResult,
  ShownAccountResult,
} from './users.responses.js';
import { accountView } from './views.js';

@Injectable()
export class OperatorUsersService {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessions: UserSessionsRepository,
    private readonly memberships: Memberships,
  ) {}

  async list(query: ListUsersQuery, linkNextPage: LinkNextPage): Promise<AccountListResult> {
    const { search: prefix = '', status, cursor } = query;
    const start = cursor === undefined ? undefined : decodeTextCursor(cursor);
    const isWanted = ({ disabledAt }: ListedUser): boolean =>
      status === undefined || (disabledAt !== null) === (status === 'disabled');
    const { rows, last } = await filteredPage({ limit: limitOf(query), isWanted }, (size, after) => {
      const search = { prefix, after: after?.email ?? start };
      return status === 'disabled'
        ? this.users.listDisabled(search, size)
        : this.users.listPage(search, size);
    });
    return { users: rows.map(accountView), ...linkNext(last && encodeTextCursor(last.email), linkNextPage) };
  }

  async show(userId: string): Promise<ShownAccountResult> {
    const user = await this.find(userId);
    return { user: { ...accountView(user), passwordChangedAt: timeOrNull(user.passwordChangedAt) } };
  }

  async listSessions(userId: string): Promise<AccountSessionsResult> {
    const { id } = await this.find(userId);
    return { sessions: (await this.sessions.listAlive(id)).map(sessionView) };
  }

  async listOrgs(
    userId: string,
    query: ListOwnOrgsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<AccountOrgsResult> {
    const { id: ofUser } = await this.find(userId);
    const limit = limitOf(query);
    const rows = await this.memberships.findOrgsEvenDeleted(ofUser, limit + 1, positionOf(query));
    const cursorOf = (org: { id: string; joinedAt: number }): string =>
      encodeCursor({ order: org.joinedAt, id: org.id });
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    const orgs = page.map(({ id, name, role, joinedAt, deletedAt }) => ({
      id,
      name,
      role,
      joinedAt: timeText(joinedAt),
      deletedAt: timeOrNull(deletedAt),
    }));
    return { orgs, ...next };
  }

  /** @throws Problem before any slow work, as the transaction does, too */
  async requireChangeable(userId: string, operator: SignedInOperator): Promise<UserProfile> {
    const user = await this.find(userId);
    requireUnprotected(operator, user);
    return user;
  }

  private async find(id: string): Promise<UserProfile> {
    const user = await this.users.findById(id);
    if (!user) throw new Problem('user_not_found', { detail: NO_SUCH_USER });
    return user;
  }
}
