import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import type { StreamableFile } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { MinRole } from '../../access/access.decorators.js';
import { CurrentUser } from '../../access/current-user.decorator.js';
import { EntityIdPipe } from '../../http/entity-id.pipe.js';
import { ApiProblems, invalidFields } from '../../openapi/api-problems.decorator.js';
import { AddMemberRequest } from './dto/add-member.request.js';
import { ChangeMemberRoleRequest } from './dto/change-member-role.request.js';
import { OkResult } from '../../http/ok.responses.js';
import { MemberDetailResult, MembershipResult, MembersResult } from './dto/member.responses.js';
import { ListMembersQuery } from './dto/list-members.query.js';
import { RateLimited } from '../../rate-limits/rate-limited.decorator.js';
import { MemberListService } from './member-list.service.js';
import { MemberSearchService } from './member-search.service.js';
import { ApiPage } from '../../pagination/api-page.decorator.js';
import { type LinkNextPage, NextPage } from '../../pagination/next-page.decorator.js';
import { MembersService } from './members.service.js';
import { OrgWrite } from '../../requests/careful-write.decorator.js';
import { CurrentWrite } from '../../requests/current-write.decorator.js';
import type { Write } from '../../requests/write.js';

const MEMBER_PARAM = {
  name: 'userId',
  type: String,
  format: 'uuid',
  description: 'user id of the member, from the list of members',
};

const MEMBER_OR_ME_PARAM = {
  name: 'userId',
  schema: { type: 'string', pattern: '^(?:me|[0-9a-f-]{36})$' } as const,
  description: 'user id of the member, from the list of members, or `me`',
};

@ApiTags('Members')
@Controller('api/orgs/:orgId/members')
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly memberList: MemberListService,
    private readonly search: MemberSearchService,
  ) {}

  /**
   * List the members
   *
   * @remarks In order of joining, for members of the organization. With `limit` the answer is one page, and
   * `nextCursor` the `cursor` of the next one, which the `Link` header names, too. `search` and `role` filter the
   * list, in pages ordered by e-mail.
   */
  @Get()
  @MinRole('member')
  @ApiPage(MembersResult)
  listMembers(
    @CurrentUser() { sessionId }: CurrentUser,
    @Param('orgId') orgId: string,
    @Query() query: ListMembersQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<MembersResult | StreamableFile> {
    return this.memberList.answer({ orgId, sessionId }, query, linkNextPage);
  }

  /**
   * Read a member
   *
   * @remarks For members of the organization; `me` is the caller.
   */
  @Get(':userId')
  @MinRole('member')
  @ApiParam(MEMBER_OR_ME_PARAM)
  @ApiProblems('member_not_found')
  getMember(
    @CurrentUser() caller: CurrentUser,
    @Param('orgId') orgId: string,
    @Param('userId') userId: string,
  ): Promise<MemberDetailResult> {
    return this.search.getOne(orgId, userId, caller.id);
  }

  /**
   * Add a member by e-mail
   *
   * @remarks For admins and owners. The user must have an account: in any hour a user may name
   * at most 100 e-mails without one.
   */
  @Post()
  @MinRole('admin')
  @OrgWrite()
  @RateLimited('lookup')
  @ApiProblems(
    invalidFields({ email: 'must be an e-mail address', role: 'must be member or admin' }),
    'user_not_found',
    'already_member',
    'user_has_too_many_orgs',
  )
  addMember(
    @CurrentWrite() write: Write,
    @Param('orgId') orgId: string,
    @Body() body: AddMemberRequest,
  ): Promise<MembershipResult> {
    return this.members.add(write, orgId, body.email, body.role);
  }

  /**
   * Change a member's role
   *
   * @remarks Admins change members and admins; only owners change owners or make them. The last
   * owner cannot be demoted. To make or change an owner takes a token of a login by password.
   */
  @Patch(':userId')
  @MinRole('admin')
  @OrgWrite({ dryRun: true, remedy: true })
  @ApiParam(MEMBER_PARAM)
  @ApiProblems(
    invalidFields({ role: 'must be member, admin or owner' }),
    'member_not_found',
    'last_owner',
    'member_disabled',
    'password_session_required',
  )
  changeMemberRole(
    @CurrentWrite() write: Write,
    @Param('orgId') orgId: string,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() body: ChangeMemberRoleRequest,
  ): Promise<MembershipResult> {
    return this.members.changeRole(write, orgId, userId, body.role);
  }

  /**
   * Remove a member
   *
   * @remarks Admins remove members and admins, themselves included; only owners remove owners. The last
   * owner cannot be removed. To remove an owner takes a token of a login by password.
   */
  @Delete(':userId')
  @HttpCode(200)
  @MinRole('admin')
  @OrgWrite({ dryRun: true, remedy: true })
  @ApiParam(MEMBER_PARAM)
  @ApiProblems('member_not_found', 'last_owner', 'password_session_required')
  removeMember(
    @CurrentWrite() write: Write,
    @Param('orgId') orgId: string,
    @Param('userId', EntityIdPipe) userId: string,
  ): Promise<OkResult> {
    return this.members.remove(write, orgId, userId);
  }
}
