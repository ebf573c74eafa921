import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import { MinRole } from '../../access/access.decorators.js';
import type { UserPrincipal } from '../../access/principal.js';
import { CurrentUser } from '../../http/request-origin.js';
import { GatedRead } from '../../http/read-gate.js';
import { ApiPage, EntityIdPipe, OkResponse, OrgRead } from '../../http/fields.js';
import { TOO_MANY_INVITATIONS } from '../../mail/mails.limits.js';
import { ApiProblems, invalidFields } from '../../openapi/decorators.js';
import { OrgWrite } from '../../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../../requests/write.js';
import { AnswerTag, type TagAnswer } from '../../requests/entity-tags.js';
import {
  CreateInvitationRequest,
  INVITATION_PARAM,
  ListInvitationsQuery,
  ResendInvitationRequest,
} from './invitations.requests.js';
import { InvitationsResponse, InvitationResponse } from './invitations.responses.js';
import { InvitationsService } from './invitations.service.js';

@Controller('api/orgs/:orgId/invitations')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  /**
   * Invite a user by email
   *
   * @remarks Sends an invitation code to the email, whether or not a user has it. The code is valid for seven days. If
   * `showCode` is true, the response contains the code and no email is sent.
   *
   * Limits: 25 invitations a day to one email, 5 of them by one inviter or one organization. 100 a day by one inviter
   * or one organization to all emails.
   */
  @Post()
  @MinRole('admin')
  @OrgWrite()
  @ApiProblems(
    invalidFields({ email: 'must be an email address', role: 'must be member or admin' }),
    'already_member',
    'already_invited',
    'too_many_invitations',
    'mail_unavailable',
    { code: 'rate_limited', detail: TOO_MANY_INVITATIONS },
  )
  createInvitation(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Body() body: CreateInvitationRequest,
  ): Promise<InvitationResponse> {
    return tagged(this.invitations.create(write, orgId, body));
  }

  /**
   * List the invitations
   *
   * @remarks Returns the invitations of the organization, latest first, in pages, without their codes.
   *
   * Invitations that ended long ago are deleted.
   */
  @Get()
  @MinRole('admin')
  @OrgRead()
  @ApiPage(InvitationsResponse)
  @GatedRead()
  listInvitations(
    @CurrentUser() caller: UserPrincipal,
    @Param('orgId') orgId: string,
    @Query() query: ListInvitationsQuery,
  ): Promise<InvitationsResponse> {
    return this.invitations.listOfOrg(orgId, caller, query);
  }

  /**
   * Resend an invitation
   *
   * @remarks Sends a new code for a pending or expired invitation. The code is valid for seven days, and the old code
   * is void. The caller becomes the inviter.
   *
   * Limits: those of `POST /api/orgs/{orgId}/invitations`.
   */
  @Post(':invitationId/resend')
  @HttpCode(200)
  @MinRole('admin')
  @OrgWrite()
  @ApiParam(INVITATION_PARAM)
  @ApiBody({ type: ResendInvitationRequest, required: false })
  @ApiProblems(
    invalidFields({ showCode: 'must be true or false' }),
    'invitation_not_found',
    'invitation_ended',
    'already_member',
    'already_invited',
    'too_many_invitations',
    'mail_unavailable',
    { code: 'rate_limited', detail: TOO_MANY_INVITATIONS },
  )
  resendInvitation(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Param('invitationId', EntityIdPipe) invitationId: string,
    @Body() body: ResendInvitationRequest,
  ): Promise<InvitationResponse> {
    return tagged(this.invitations.resend(write, orgId, invitationId, body));
  }

  /**
   * Revoke an invitation
   *
   * @remarks Revokes a pending or expired invitation. Its code is void.
   */
  @Delete(':invitationId')
  @MinRole('admin')
  @OrgWrite()
  @ApiParam(INVITATION_PARAM)
  @ApiProblems('invitation_not_found', 'invitation_ended')
  revokeInvitation(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Param('invitationId', EntityIdPipe) invitationId: string,
  ): Promise<OkResponse> {
    return tagged(this.invitations.revoke(write, orgId, invitationId));
  }
}
