import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  type StreamableFile,
} from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import {
  ApiOrgId,
  MinRole,
  MinRoleDirectly,
  SignedIn,
  SignedInDirectly,
} from '../access/access.decorators.js';
import { CurrentOrg, CurrentUser } from '../http/request-origin.js';
import { GatedRead, ReadPage } from '../http/read-gate.js';
import type { UserPrincipal } from '../access/principal.js';
import { ApiIncluded, Included, MEMBER_PROFILES } from '../http/included.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ETAG_HEADER } from '../openapi/headers.js';
import { OrgWrite, WriteRoute } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import { AnswerTag, type TagAnswer } from '../requests/entity-tags.js';
import { CreateOrgRequest, ORG_CHANGES, UpdateOrgRequest, TransferOrgRequest } from './orgs.requests.js';
import { OrgChangeResponse, OrgDeletionResponse, OrgDetailResponse, OrgResponse } from './orgs.responses.js';
import { OrgsService } from './orgs.service.js';
import { EntityIdPipe, OkResponse, OrgRead } from '../http/fields.js';
import { MembersService } from './members/members.service.js';

const ORG_PARTS = ['profile', 'requirements'] as const;

@Controller('api/orgs')
export class OrgsController {
  constructor(
    private readonly orgs: OrgsService,
    private readonly members: MembersService,
  ) {}

  /**
   * Create an organization
   *
   * @remarks Creates an organization. The user becomes its owner.
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
   * Get an organization
   *
   * @remarks Returns an organization and its members. Send the `ETag` as `If-Match` to change the organization only if
   * it has not changed since.
   */
  @Get(':orgId')
  @MinRole('member', { boundTokens: true })
  @OrgRead()
  @ApiIncluded(
    ORG_PARTS,
    `${MEMBER_PROFILES} If \`requirements\`, the organization has \`secondFactorRequiredFrom\`.`,
  )
  @ApiOkResponse({ type: OrgDetailResponse, headers: ETAG_HEADER })
  @GatedRead()
  getOrg(
    @CurrentOrg() org: CurrentOrg,
    @CurrentUser() caller: UserPrincipal,
    @AnswerTag() tagged: TagAnswer,
    @Included(ORG_PARTS) included: Included,
    @ReadPage() readPage: ReadPage,
  ): Promise<OrgDetailResponse | StreamableFile> {
    return tagged(this.orgs.getDetail(org, caller, included, readPage));
  }

  /**
   * Change an organization
   *
   * @remarks Changes the name of an organization, or requires two-factor authentication of its members. Names need not
   * be unique.
   *
   * Only owners with two-factor authentication may require it, and they need a direct session (opened by a login, not
   * by a one-time code). Members without it are suspended from `secondFactorRequiredFrom` on: they keep the membership,
   * but can only leave. With `dryRun`, `affected` says how many members lack it.
   */
  @Patch(':orgId')
  @ApiBody({ type: UpdateOrgRequest, examples: ORG_CHANGES })
  @MinRole('admin')
  @OrgWrite({ dryRun: true })
  @ApiProblems(
    invalidFields({ name: 'must be text of 1 to 100 characters without control characters' }),
    'second_factor_not_enabled',
    'direct_session_required',
  )
  updateOrg(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Body() change: UpdateOrgRequest,
  ): Promise<OrgChangeResponse> {
    return tagged(this.orgs.change(write, orgId, change));
  }

  /**
   * Delete an organization
   *
   * @remarks Deletes an organization and revokes its pending invitations. Requests for it return 404 immediately.
   *
   * An owner can restore it until `purgeAt`.
   */
  @Delete(':orgId')
  @MinRoleDirectly('owner')
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
   * @remarks Restores an organization that the user owned, with the members who still exist.
   */
  @Post(':orgId/restore')
  @HttpCode(200)
  @SignedInDirectly()
  @WriteRoute({ idempotencyKey: true, dryRun: true, remedy: true })
  @ApiOrgId()
  @ApiProblems('org_not_found', 'second_factor_required_by_org')
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
   * @remarks Removes the user from the organization.
   *
   * The last owner cannot leave; the only member can delete the organization instead. An owner needs a direct session
   * (opened by a login, not by a one-time code).
   */
  @Post(':orgId/leave')
  @HttpCode(200)
  @MinRole('member', { evenSuspended: true })
  @OrgWrite({ dryRun: true })
  @ApiProblems('last_owner', 'direct_session_required')
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
   * @remarks Makes another member an owner. The user becomes an admin, or leaves if `leave` is true.
   */
  @Post(':orgId/transfer')
  @HttpCode(200)
  @MinRoleDirectly('owner')
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
