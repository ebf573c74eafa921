import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Module,
  Param,
  Patch,
  Post,
  type StreamableFile,
} from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import {
  ApiOrgId,
  MinRole,
  MinRoleByPassword,
  SignedIn,
  SignedInByPassword,
} from '../access/access.decorators.js';
import { CurrentOrg, CurrentUser } from '../http/request-origin.js';
import type { UserPrincipal } from '../access/principal.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ETAG_HEADER } from '../openapi/responses.js';
import { OrgWrite, WriteRoute } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import { AnswerTag, type TagAnswer } from '../requests/entity-tags.js';
import { CreateOrgRequest, RenameOrgRequest, TransferOrgRequest } from './members/members.requests.js';
import { OrgDeletionResponse, OrgDetailResponse, OrgResponse } from './members/members.responses.js';
import { OrgPurge, OrgsService } from './orgs.service.js';
import { EntityIdPipe, OkResponse } from '../http/fields.js';
import { MembersService } from './members/members.service.js';
import { EventsModule } from '../events/events.module.js';
import { RequestsModule } from '../requests/writes.js';
import { UsersModule } from '../users/user-changes.js';
import { MembersModule } from './members/members.controller.js';
import { OrgStateModule } from './state/org-state.module.js';

@Controller('api/orgs')
export class OrgsController {
  constructor(
    private readonly orgs: OrgsService,
    private readonly members: MembersService,
  ) {}

  /**
   * Create an organization
   *
   * @remarks The caller becomes the owner of the organization.
   */
  @Post()
  @SignedIn()
  @WriteRoute({ idempotencyKey: true })
  @ApiProblems(
    invalidFields({ name: 'must be text of 1 to 100 characters without control characters' }),
    'too_many_orgs',
  )
  createOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Body() { name }: CreateOrgRequest,
  ): Promise<OrgResponse> {
    return tagged(this.orgs.create(write, name));
  }

  /**
   * Read an organization and its members
   *
   * @remarks Every member may do this. Send the `ETag` in `If-Match` to change the organization only if nobody else has
   * changed it.
   */
  @Get(':orgId')
  @MinRole('member', { boundTokens: true })
  @ApiOkResponse({ type: OrgDetailResponse, headers: ETAG_HEADER })
  getOrg(
    @CurrentOrg() org: CurrentOrg,
    @CurrentUser() caller: UserPrincipal,
    @AnswerTag() tagged: TagAnswer,
  ): Promise<OrgDetailResponse | StreamableFile> {
    return tagged(this.orgs.getDetail(org, caller));
  }

  /**
   * Rename an organization
   *
   * @remarks Requires the role admin or owner.
   */
  @Patch(':orgId')
  @MinRole('admin')
  @OrgWrite()
  @ApiProblems(invalidFields({ name: 'must be text of 1 to 100 characters without control characters' }))
  renameOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Body() { name }: RenameOrgRequest,
  ): Promise<OrgResponse> {
    return tagged(this.orgs.rename(write, orgId, name));
  }

  /**
   * Delete an organization
   *
   * @remarks Requests for the organization get 404 at once, and its pending invitations are revoked. An owner can
   * restore it until `purgeAt`. Requires the role owner and a token from a login by password.
   */
  @Delete(':orgId')
  @MinRoleByPassword('owner')
  @OrgWrite({ dryRun: true })
  deleteOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
  ): Promise<OrgDeletionResponse> {
    return tagged(this.orgs.delete(write, orgId));
  }

  /**
   * Restore a deleted organization
   *
   * @remarks Restores the organization with the members who still have an account. Requires that the caller was an
   * owner of the organization, and a token from a login by password.
   */
  @Post(':orgId/restore')
  @HttpCode(200)
  @SignedInByPassword()
  @WriteRoute({ idempotencyKey: true, dryRun: true })
  @ApiOrgId()
  @ApiProblems('org_not_found')
  restoreOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId', EntityIdPipe) orgId: string,
  ): Promise<OrgResponse> {
    return tagged(this.orgs.restore(write, orgId));
  }

  /**
   * Leave an organization
   *
   * @remarks Every member except the last owner may leave. An owner needs a token from a login by password.
   */
  @Post(':orgId/leave')
  @HttpCode(200)
  @MinRole('member')
  @OrgWrite({ dryRun: true, remedy: true })
  @ApiProblems('last_owner', 'step_up_required')
  leaveOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
  ): Promise<OkResponse> {
    return tagged(this.members.leave(write, orgId));
  }

  /**
   * Transfer an organization
   *
   * @remarks Another member becomes an owner, and the caller becomes an admin, or leaves if `leave` is true. Requires
   * the role owner and a token from a login by password.
   */
  @Post(':orgId/transfer')
  @HttpCode(200)
  @MinRoleByPassword('owner')
  @OrgWrite({ dryRun: true })
  @ApiProblems(invalidFields({ userId: 'must be the id of a user' }), 'member_not_found', 'member_disabled')
  transferOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Body() { userId, leave }: TransferOrgRequest,
  ): Promise<OkResponse> {
    return tagged(this.members.transfer(write, orgId, userId, leave === true));
  }
}

@Module({
  imports: [OrgStateModule, MembersModule, EventsModule, RequestsModule, UsersModule],
  controllers: [OrgsController],
  providers: [OrgPurge, OrgsService],
  exports: [OrgPurge, OrgsService],
})
export class OrgsModule {}
