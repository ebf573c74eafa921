import { applyDecorators, Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import { SignedIn, SignedInDirectly } from '../access/access.decorators.js';
import { CurrentUser } from '../http/request-origin.js';
import { GatedRead } from '../http/read-gate.js';
import type { UserPrincipal } from '../access/principal.js';
import { ApiPage, EntityIdPipe, OkResponse } from '../http/fields.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ApiIncluded, Included, PROFILE_ONLY } from '../http/included.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { WriteRoute } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import { AnswerTag, type TagAnswer } from '../requests/entity-tags.js';
import {
  AnswerInvitationByCodeRequest,
  AnswerInvitationRequest,
  INVITATION_PARAM,
  ListOwnInvitationsQuery,
} from '../orgs/invitations/invitations.requests.js';
import { AcceptedResponse, ReceivedInvitationsResponse } from '../orgs/invitations/invitations.responses.js';
import { InvitationsService } from '../orgs/invitations/invitations.service.js';
import { InvitationAnswers } from '../orgs/invitations/invitation-answers.service.js';

const Answer = (): MethodDecorator =>
  applyDecorators(
    SignedInDirectly(),
    WriteRoute({ idempotencyKey: true }),
    ApiProblems(invalidFields({ code: 'must be a string' }), 'invalid_invitation_code'),
  );

const AnswerById = (): MethodDecorator =>
  applyDecorators(
    Answer(),
    ApiParam(INVITATION_PARAM),
    ApiBody({ type: AnswerInvitationRequest, required: false }),
    ApiProblems('email_not_verified', 'invitation_not_found'),
  );

@Controller('api/me/invitations')
export class OwnInvitationsController {
  constructor(
    private readonly answers: InvitationAnswers,
    private readonly invitations: InvitationsService,
  ) {}

  /**
   * List the received invitations
   *
   * @remarks Returns the pending invitations to the user's email, latest first, in pages.
   *
   * The list is empty while the email is not verified.
   */
  @Get()
  @SignedIn()
  @ApiIncluded(PROFILE_ONLY, 'If `profile`, each invitation has the name and email of the `inviter`.')
  @ApiPage(ReceivedInvitationsResponse)
  @GatedRead()
  listReceivedInvitations(
    @CurrentUser() { id }: UserPrincipal,
    @Query() query: ListOwnInvitationsQuery,
    @Included(PROFILE_ONLY) included: Included,
  ): Promise<ReceivedInvitationsResponse> {
    return this.invitations.listOfUser(id, query, included);
  }

  /**
   * Accept an invitation
   *
   * @remarks Accepts an invitation to the user's email, and adds the user to the organization.
   *
   * While the email is not verified, the request needs the code of the invitation. A code that was emailed verifies
   * the email.
   *
   * Limit: 10,000,000 codes for one invitation.
   */
  @Post(':invitationId/accept')
  @HttpCode(200)
  @AnswerById()
  @ApiProblems('already_member', 'invitation_ended', 'too_many_orgs')
  acceptInvitation(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('invitationId', EntityIdPipe) invitationId: string,
    @Body() { code }: AnswerInvitationRequest,
  ): Promise<AcceptedResponse> {
    return tagged(this.answers.accept(write, { id: invitationId, code }));
  }

  /**
   * Decline an invitation
   *
   * @remarks Declines an invitation to the user's email.
   *
   * While the email is not verified, the request needs the code of the invitation.
   */
  @Post(':invitationId/decline')
  @HttpCode(200)
  @AnswerById()
  @ApiProblems('invitation_ended')
  declineInvitation(
    @CurrentWrite() write: Write,
    @Param('invitationId', EntityIdPipe) invitationId: string,
    @Body() { code }: AnswerInvitationRequest,
  ): Promise<OkResponse> {
    return this.answers.decline(write, { id: invitationId, code });
  }

  /**
   * Accept an invitation by code
   *
   * @remarks Accepts the invitation that the code belongs to, and adds the user to the organization.
   *
   * The invitation must be to the user's email, which need not be verified. A code that was emailed verifies it.
   *
   * Limits: 10 codes in 15 minutes, and 10,000,000 wrong ones for one invitation.
   */
  @Post('accept')
  @HttpCode(200)
  @RateLimited('code')
  @Answer()
  @ApiProblems('already_member', 'invitation_ended', 'too_many_orgs')
  acceptInvitationByCode(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @CurrentUser() { email }: UserPrincipal,
    @Body() { code }: AnswerInvitationByCodeRequest,
  ): Promise<AcceptedResponse> {
    return tagged(this.answers.accept(write, { email, code }));
  }

  /**
   * Decline an invitation by code
   *
   * @remarks Declines the invitation that the code belongs to.
   *
   * The invitation must be to the user's email, which need not be verified.
   *
   * Limits: 10 codes in 15 minutes, and 10,000,000 wrong ones for one invitation.
   */
  @Post('decline')
  @HttpCode(200)
  @RateLimited('code')
  @Answer()
  @ApiProblems('invitation_ended')
  declineInvitationByCode(
    @CurrentWrite() write: Write,
    @CurrentUser() { email }: UserPrincipal,
    @Body() { code }: AnswerInvitationByCodeRequest,
  ): Promise<OkResponse> {
    return this.answers.decline(write, { email, code });
  }
}
