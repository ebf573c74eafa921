import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import type { StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { MinRole } from '../access/access.decorators.js';
import type { Actor } from '../access/actor.js';
import { CurrentUser } from '../access/current-user.decorator.js';
import { CurrentActor } from '../http/current-actor.decorator.js';
import { EntityIdPipe } from '../http/entity-id.pipe.js';
import { ApiProblems } from '../openapi/api-problems.decorator.js';
import { AddMemberDto } from './dto/add-member.dto.js';
import { ChangeRoleDto } from './dto/change-role.dto.js';
import { ChangedMemberResponse, MemberListResponse, RemovedMemberResponse } from './dto/member.responses.js';
import { ListMembersQuery } from './dto/list-members.query.js';
import { RateLimited } from '../rate-limits/rate-limited.decorator.js';
import { MemberListService } from './member-list.service.js';
import { type LinkNextPage, NextPage } from './next-page.decorator.js';
import { MembersService } from './members.service.js';

const MEMBER_PARAM = { name: 'uid', type: String, description: 'user id of the member' };

@ApiTags('Members')
@Controller('api/orgs/:id/members')
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly memberList: MemberListService,
  ) {}

  /**
   * List the members
   *
   * @remarks By the time they joined. For every member of the organization. With `limit` the answer is one page,
   * and `nextCursor` is the `cursor` of the next one, to which the `Link` header leads, too.
   */
  @Get()
  @MinRole('member')
  @ApiOkResponse({ type: MemberListResponse })
  @ApiProblems('validation_failed', 'unauthorized', 'invalid_token', 'org_not_found', 'not_a_member')
  listMembers(
    @CurrentUser() { sessionId }: CurrentUser,
    @Param('id') orgId: string,
    @Query() query: ListMembersQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<MemberListResponse | StreamableFile> {
    return this.memberList.answer({ orgId, sessionId }, query, linkNextPage);
  }

  /**
   * Add a member by e-mail
   *
   * @remarks For admins and owners. The user must have an account: at most 100 additions of a user in any hour may
   * find none.
   */
  @Post()
  @MinRole('admin')
  @RateLimited('lookup')
  @ApiProblems(
    'validation_failed',
    'malformed_json',
    'unauthorized',
    'invalid_token',
    'not_a_member',
    'insufficient_role',
    'org_not_found',
    'user_not_found',
    'already_member',
    'user_has_too_many_orgs',
    'rate_limited',
  )
  async addMember(
    @CurrentActor() actor: Actor,
    @Param('id') orgId: string,
    @Body() dto: AddMemberDto,
  ): Promise<ChangedMemberResponse> {
    return { member: await this.members.add(orgId, actor, dto.email, dto.role) };
  }

  /**
   * Change a member's role
   *
   * @remarks Admins change members and admins; only owners change owners or make them. The last owner stays.
   */
  @Patch(':uid')
  @MinRole('admin')
  @ApiParam(MEMBER_PARAM)
  @ApiProblems(
    'validation_failed',
    'malformed_json',
    'unauthorized',
    'invalid_token',
    'not_a_member',
    'insufficient_role',
    'org_not_found',
    'member_not_found',
    'last_owner',
  )
  async changeMemberRole(
    @CurrentActor() actor: Actor,
    @Param('id') orgId: string,
    @Param('uid', EntityIdPipe) userId: string,
    @Body() dto: ChangeRoleDto,
  ): Promise<ChangedMemberResponse> {
    return { member: await this.members.changeRole(orgId, actor, userId, dto.role) };
  }

  /**
   * Remove a member
   *
   * @remarks Admins remove members and admins, themselves included; only owners remove owners. The last
   * owner stays.
   */
  @Delete(':uid')
  @HttpCode(200)
  @MinRole('admin')
  @ApiParam(MEMBER_PARAM)
  @ApiProblems(
    'malformed_json',
    'unauthorized',
    'invalid_token',
    'not_a_member',
    'insufficient_role',
    'org_not_found',
    'member_not_found',
    'last_owner',
  )
  removeMember(
    @CurrentActor() actor: Actor,
    @Param('id') orgId: string,
    @Param('uid', EntityIdPipe) userId: string,
  ): Promise<RemovedMemberResponse> {
    return this.members.remove(orgId, actor, userId);
  }
}
