import { Body, Controller, Delete, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ApiOrgId, MinRole, MinRoleByPassword, SignedInByPassword } from '../access/access.decorators.js';
import { EntityIdPipe } from '../http/validation.js';
import { OkResult } from '../http/ok.responses.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { WriteRoute, OrgWrite } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import { AnswerTag, type TagAnswer } from '../requests/entity-tags.js';
import { OrgDeletionResult, OrgResult } from './orgs.responses.js';
import { RenameOrgRequest, TransferOrgRequest } from './orgs.requests.js';
import { MembersService } from './members/members.service.js';
import { OrgLifeService } from './org-life.service.js';

@ApiTags('Organizations')
@Controller('api/orgs/:orgId')
export class OrgLifeController {
  constructor(
    private readonly orgs: OrgLifeService,
    private readonly members: MembersService,
  ) {}

  /**
   * Rename an organization
   *
   * @remarks Requires the role admin or owner.
   */
  @Patch()
  @MinRole('admin')
  @OrgWrite()
  @ApiProblems(invalidFields({ name: 'must be text of 1 to 100 characters without control characters' }))
  renameOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Body() { name }: RenameOrgRequest,
  ): Promise<OrgResult> {
    return tagged(this.orgs.rename(write, orgId, name));
  }

  /**
   * Delete an organization
   *
   * @remarks Requests for the organization get 404 at once, and its pending invitations are revoked. An owner can
   * restore it until `purgeAt`. Requires the role owner and a token from a login by password.
   */
  @Delete()
  @MinRoleByPassword('owner')
  @OrgWrite({ dryRun: true })
  deleteOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
  ): Promise<OrgDeletionResult> {
    return tagged(this.orgs.delete(write, orgId));
  }

  /**
   * Restore a deleted organization
   *
   * @remarks Restores the organization with the members who still have an account. Requires that the caller was an
   * owner of the organization, and a token from a login by password.
   */
  @Post('restore')
  @HttpCode(200)
  @SignedInByPassword()
  @WriteRoute({ idempotencyKey: true, dryRun: true })
  @ApiOrgId()
  @ApiProblems('org_not_found')
  restoreOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId', EntityIdPipe) orgId: string,
  ): Promise<OrgResult> {
    return tagged(this.orgs.restore(write, orgId));
  }

  /**
   * Leave an organization
   *
   * @remarks Every member except the last owner may leave. An owner needs a token from a login by password.
   */
  @Post('leave')
  @HttpCode(200)
  @MinRole('member')
  @OrgWrite({ dryRun: true, remedy: true })
  @ApiProblems('last_owner', 'password_session_required')
  leaveOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
  ): Promise<OkResult> {
    return tagged(this.members.leave(write, orgId));
  }

  /**
   * Transfer an organization
   *
   * @remarks Another member becomes an owner, and the caller becomes an admin, or leaves if `leave` is true. Requires
   * the role owner and a token from a login by password.
   */
  @Post('transfer')
  @HttpCode(200)
  @MinRoleByPassword('owner')
  @OrgWrite({ dryRun: true })
  @ApiProblems(invalidFields({ userId: 'must be the id of a user' }), 'member_not_found', 'member_disabled')
  transferOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Body() { userId, leave }: TransferOrgRequest,
  ): Promise<OkResult> {
    return tagged(this.members.transfer(write, orgId, userId, leave === true));
  }
}
