import { applyDecorators, Controller, Get, Param, Query } from '@nestjs/common';
import { Operators } from '../access/access.decorators.js';
import { IdentitiesRepository } from '../auth/providers/identities.repository.js';
import { identityView } from '../auth/providers/providers.responses.js';
import { SecondFactorFailuresRepository } from '../auth/second-factor/second-factor-failures.repository.js';
import { LoginTracesRepository } from '../auth/sessions/login-traces.repository.js';
import { sessionView, UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import { ApiPage, EntityIdPipe } from '../http/fields.js';
import { GatedRead } from '../http/read-gate.js';
import {
  cutPage,
  decodeTextCursor,
  encodeCursor,
  encodeTextCursor,
  filteredPage,
  limitOf,
  positionOf,
} from '../http/pages.js';
import { ApiIncluded, Included, PROFILE_ONLY } from '../http/included.js';
import { timeOrNull, timeText } from '../identifiers/text.js';
import { ListOwnOrgsQuery } from '../me/me.requests.js';
import { ApiProblems } from '../openapi/decorators.js';
import { MembershipsRepository } from '../orgs/state/members.memberships.js';
import { HeldLimits } from '../rate-limits/login-limits.js';
import { beginningOf } from '../users/user.fields.js';
import { UsersRepository } from '../users/users.repository.js';
import type { UserView } from '../users/user-view.js';
import { ApiUserId, OperatedUsers, UNKNOWN_USER } from './operated-changes.js';
import { ListUsersQuery } from './operators.requests.js';
import {
  UsersResponse,
  UserOrgsResponse,
  UserSessionsResponse,
  AdminUserResponse,
} from './users.responses.js';
import { accountDetails, accountView, accountWithProfile, loginLimitsView } from './views.js';

const IDENTITIES_ONLY = ['identities'] as const;

const UserLookup = (): MethodDecorator =>
  applyDecorators(Operators(), ApiUserId(), ApiProblems(UNKNOWN_USER));

@Controller('api/operators/users')
export class OperatorUsersController {
  constructor(
    private readonly users: UsersRepository,
    private readonly finder: OperatedUsers,
    private readonly sessions: UserSessionsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly traces: LoginTracesRepository,
    private readonly failures: SecondFactorFailuresRepository,
    private readonly limits: HeldLimits,
    private readonly identities: IdentitiesRepository,
  ) {}

  /**
   * List users
   *
   * @remarks Returns all users in order of their emails, in pages. With `search`, the pages contain the users whose email
   * begins with it. The last page ends with up to 50 others, the newest first, who have it in their email or name.
   */
  @Get()
  @Operators()
  @ApiIncluded(PROFILE_ONLY, 'If `profile`, each user has `name`, `avatarUrl` and `locale`.')
  @ApiPage(UsersResponse)
  @GatedRead()
  async adminListUsers(
    @Query() query: ListUsersQuery,
    @Included(PROFILE_ONLY) included: Included,
  ): Promise<UsersResponse> {
    const { search: part, status, cursor } = query;
    const prefix = part === undefined ? '' : beginningOf(part);
    const start = cursor === undefined ? undefined : decodeTextCursor(cursor);
    const isWanted = ({ disabledAt }: UserView): boolean =>
      status === undefined || (disabledAt !== null) === (status === 'disabled');
    const { rows, last } = await filteredPage({ limit: limitOf(query), isWanted }, (size, after) => {
      const search = { prefix, after: after?.email ?? start, onlyDisabled: status === 'disabled' };
      return this.users.listPage(search, size);
    });
    const view = included.has('profile') ? accountWithProfile : accountView;
    if (last) return { users: rows.map(view), nextCursor: encodeTextCursor(last.email) };
    if (part === undefined) return { users: rows.map(view) };
    const isDisabled = status === undefined ? undefined : status === 'disabled';
    const others = await this.users.searchNewest({ part, prefix, isDisabled });
    return { users: [...rows, ...others.rows].map(view), ...(!others.isComplete && { complete: false }) };
  }

  /**
   * Get a user
   *
   * @remarks Returns a user: whether the user is enabled, has two-factor authentication, and is an operator, when the
   * user last logged in, how often a login has failed since, and whether a limit rejects logins now.
   */
  @Get(':userId')
  @UserLookup()
  @ApiIncluded(IDENTITIES_ONLY, 'If `identities`, the user has `identities`: where the user can log in.')
  async adminGetUser(
    @Param('userId', EntityIdPipe) userId: string,
    @Included(IDENTITIES_ONLY) included: Included,
  ): Promise<AdminUserResponse> {
    const user = await this.finder.find(userId);
    const trace = await this.traces.find(userId);
    const held = await this.limits.find(user.email, trace?.failedIp ?? null);
    const loginLimits = loginLimitsView(held, await this.failures.find(userId, 'login'));
    const loginLimitsOf = this.limits.areShared ? 'all' : 'instance';
    const identities = included.has('identities') && {
      identities: (await this.identities.listOfUser(userId)).map(identityView),
    };
    return { user: { ...accountDetails(user, trace), loginLimits, loginLimitsOf, ...identities } };
  }

  /**
   * List a user's sessions
   *
   * @remarks Returns the active sessions of a user, latest first.
   */
  @Get(':userId/sessions')
  @UserLookup()
  @GatedRead()
  async adminListUserSessions(@Param('userId', EntityIdPipe) userId: string): Promise<UserSessionsResponse> {
    const { id } = await this.finder.find(userId);
    return { sessions: (await this.sessions.listAlive(id)).map(sessionView) };
  }

  /**
   * List a user's organizations
   *
   * @remarks Returns the organizations of a user in order of joining, deleted ones included, in pages.
   */
  @Get(':userId/orgs')
  @UserLookup()
  @ApiPage(UserOrgsResponse)
  @GatedRead()
  async adminListUserOrgs(
    @Param('userId', EntityIdPipe) userId: string,
    @Query() query: ListOwnOrgsQuery,
  ): Promise<UserOrgsResponse> {
    const { id: ofUser } = await this.finder.find(userId);
    const limit = limitOf(query);
    const rows = await this.memberships.findOrgsEvenDeleted(ofUser, limit + 1, positionOf(query));
    const cursorOf = (org: { id: string; joinedAt: number }): string =>
      encodeCursor({ order: org.joinedAt, id: org.id });
    const { page, next } = cutPage(rows, limit, cursorOf);
    const orgs = page.map(({ id, name, role, joinedAt, deletedAt }) => ({
      id,
      name,
      role,
      joinedAt: timeText(joinedAt),
      deletedAt: timeOrNull(deletedAt),
    }));
    return { orgs, ...next };
  }
}
