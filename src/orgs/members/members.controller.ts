import {
  Body,
  Controller,
  Delete,
  Get,
  Param,
  Patch,
  Post,
  Query,
  type StreamableFile,
} from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { MinRole } from '../../access/access.decorators.js';
import { BOUND_TOKEN } from '../../access/route-access.js';
import { CurrentOrg, CurrentUser } from '../../http/request-origin.js';
import { GatedRead, ReadPage } from '../../http/read-gate.js';
import { ApiPage, EntityIdPipe, OkResponse, OrgRead } from '../../http/fields.js';
import { ApiIncluded, Included, MEMBER_PROFILES, PROFILE_ONLY } from '../../http/included.js';
import type { UserPrincipal } from '../../access/principal.js';
import { ApiProblems, invalidFields } from '../../openapi/decorators.js';
import { AddMemberRequest, ChangeMemberRoleRequest, ListMembersQuery } from './members.requests.js';
import { MemberDetailResponse, MemberRoleResponse, MembersResponse } from './members.responses.js';
import { RateLimited } from '../../rate-limits/rate-limit.guard.js';
import { MembersReader } from './members-reader.js';
import { MembersService } from './members.service.js';
import { OrgWrite } from '../../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../../requests/write.js';
import { AnswerTag, type TagAnswer } from '../../requests/entity-tags.js';

const MEMBER_PARAM = {
  name: 'userId',
  type: String,
  format: 'uuid',
  description: 'User id of the member, from the list of members.',
};

const MEMBER_OR_ME_PARAM = {
  name: 'userId',
  schema: { type: 'string', pattern: '^(?:me|[0-9a-f-]{36})$' } as const,
  description: 'User id of the member, from the list of members, or `me`.',
};

@Controller('api/orgs/:orgId/members')
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly lists: MembersReader,
  ) {}

  /**
   * List the members
   *
   * @remarks Returns the members in order of joining: all of them, or pages if `limit` is given. The `Link` header
   * names the next page.
   *
   * The parameters `search`, `role` and `secondFactor` filter the list. A filtered list is ordered by email and always
   * paged. Only admins may use `secondFactor`.
   */
  @Get()
  @MinRole('member', { boundTokens: true })
  @OrgRead()
  @ApiIncluded(PROFILE_ONLY, MEMBER_PROFILES)
  @ApiPage(MembersResponse)
  @ApiProblems('insufficient_role', { code: 'insufficient_scope', detail: BOUND_TOKEN })
  @GatedRead()
  listMembers(
    @CurrentOrg() org: CurrentOrg,
    @CurrentUser() caller: UserPrincipal,
    @Query() query: ListMembersQuery,
    @Included(PROFILE_ONLY) included: Included,
    @ReadPage() readPage: ReadPage,
  ): Promise<MembersResponse | StreamableFile> {
    return this.lists.list(org, caller, query, included, readPage);
  }

  /**
   * Get a member
   *
   * @remarks Returns a member of the organization. The id `me` stands for the caller.
   */
  @Get(':userId')
  @MinRole('member', { boundTokens: true })
  @OrgRead()
  @ApiParam(MEMBER_OR_ME_PARAM)
  @ApiIncluded(PROFILE_ONLY, MEMBER_PROFILES)
  @ApiProblems('member_not_found')
  getMember(
    @CurrentUser() caller: UserPrincipal,
    @Param('orgId') orgId: string,
    @Param('userId') userId: string,
    @Included(PROFILE_ONLY) included: Included,
  ): Promise<MemberDetailResponse> {
    return this.lists.getOne(orgId, userId, caller, included);
  }

  /**
   * Add a member by email
   *
   * @remarks Adds a registered user to the organization with a role.
   *
   * Limit: 100 emails without a user an hour for one caller.
   */
  @Post()
  @MinRole('admin')
  @OrgWrite()
  @RateLimited('lookup')
  @ApiProblems(
    invalidFields({ email: 'must be an email address', role: 'must be member or admin' }),
    'user_not_found',
    'already_member',
    'user_has_too_many_orgs',
  )
  addMember(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Body() body: AddMemberRequest,
  ): Promise<MemberRoleResponse> {
    return tagged(this.members.add(write, orgId, body.email, body.role));
  }

  /**
   * Change a member's role
   *
   * @remarks Gives a member another role. The last owner keeps the role. Only owners may change owners or appoint them,
   * and they need a direct session (opened by a login, not by a one-time code).
   */
  @Patch(':userId')
  @MinRole('admin')
  @OrgWrite({ dryRun: true })
  @ApiParam(MEMBER_PARAM)
  @ApiProblems(
    invalidFields({ role: 'must be member, admin or owner' }),
    'member_not_found',
    'last_owner',
    'member_disabled',
    'direct_session_required',
  )
  changeMemberRole(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() body: ChangeMemberRoleRequest,
  ): Promise<MemberRoleResponse> {
    return tagged(this.members.changeRole(write, orgId, userId, body.role));
  }

  /**
   * Remove a member
   *
   * @remarks Removes a member from the organization. The last owner cannot be removed.
   *
   * Admins may remove members and admins, themselves included. Only owners may remove an owner, and they need a direct
   * session (opened by a login, not by a one-time code).
   */
  @Delete(':userId')
  @MinRole('admin')
  @OrgWrite({ dryRun: true })
  @ApiParam(MEMBER_PARAM)
  @ApiProblems('member_not_found', 'last_owner', 'direct_session_required')
  removeMember(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Param('userId', EntityIdPipe) userId: string,
  ): Promise<OkResponse> {
    return tagged(this.members.remove(write, orgId, userId));
  }
}
