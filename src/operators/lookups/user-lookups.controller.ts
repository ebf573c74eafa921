import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operators } from '../../access/access.decorators.js';
import { EntityIdPipe } from '../../http/entity-id.pipe.js';
import { ListOwnOrgsQuery } from '../../me/me.requests.js';
import { ApiProblems } from '../../openapi/decorators.js';
import { ApiPage } from '../../http/page-query.decorators.js';
import { type LinkNextPage, NextPage } from '../../http/pages.js';
import { ApiUserId } from '../operation.decorators.js';
import { NO_SUCH_USER } from '../operators.errors.js';
import { ListUsersQuery } from './dto/list-users.query.js';
import {
  AccountOrgsResult,
  AccountSessionsResult,
  AccountListResult,
  ShownAccountResult,
} from './dto/user-lookup.responses.js';
import { UserLookups } from './user-lookups.js';

const UNKNOWN_USER = { code: 'user_not_found', detail: NO_SUCH_USER } as const;

@ApiTags('Operators')
@Controller('api/operators/users')
export class UserLookupsController {
  constructor(private readonly users: UserLookups) {}

  /**
   * List users
   *
   * @remarks Lists all users in order of their e-mails, in pages. `search` finds those whose e-mail begins with it.
   */
  @Get()
  @Operators()
  @ApiPage(AccountListResult)
  listUsers(
    @Query() query: ListUsersQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<AccountListResult> {
    return this.users.list(query, linkNextPage);
  }

  /**
   * Read an account
   *
   * @remarks Tells whether the account is enabled, has a second factor, and is that of an operator.
   */
  @Get(':userId')
  @Operators()
  @ApiUserId()
  @ApiProblems(UNKNOWN_USER)
  getUser(@Param('userId', EntityIdPipe) userId: string): Promise<ShownAccountResult> {
    return this.users.show(userId);
  }

  /**
   * List the sessions of a user
   *
   * @remarks Lists the active sessions, latest first.
   */
  @Get(':userId/sessions')
  @Operators()
  @ApiUserId()
  @ApiProblems(UNKNOWN_USER)
  listUserSessions(@Param('userId', EntityIdPipe) userId: string): Promise<AccountSessionsResult> {
    return this.users.listSessions(userId);
  }

  /**
   * List the organizations of a user
   *
   * @remarks Lists the organizations in order of joining, deleted ones too, in pages.
   */
  @Get(':userId/orgs')
  @Operators()
  @ApiUserId()
  @ApiPage(AccountOrgsResult)
  @ApiProblems(UNKNOWN_USER)
  listUserOrgs(
    @Param('userId', EntityIdPipe) userId: string,
    @Query() query: ListOwnOrgsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<AccountOrgsResult> {
    return this.users.listOrgs(userId, query, linkNextPage);
  }
}
