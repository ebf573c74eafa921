import { Body, Controller, HttpCode, Post, Put, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SignedInByPassword } from '../access/access.decorators.js';
import type { UserActor, UserPrincipal } from '../access/principal.js';
import { CurrentUser, CurrentActor } from '../http/request-origin.js';
import { INVALID_EMAIL_CODE } from '../auth/email-codes/email-codes.js';
import { Client, type HashClient } from '../auth/passwords/hash-queue.js';
import { INVALID_SECOND_FACTOR_CODE } from '../auth/second-factor/second-factor.errors.js';
import { OK, OkResult } from '../http/fields.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { ChangeEmailRequest, VerifyEmailRequest } from './me.requests.js';
import { OwnEmailService } from './own-email.service.js';

@ApiTags('Me')
@Controller('api/me/email')
export class OwnEmailController {
  constructor(private readonly emails: OwnEmailService) {}

  /**
   * Request a code to verify the email
   *
   * @remarks A code that is valid for 15 minutes is mailed to the email of the account. The status is 200 if the
   * email is already verified. At most 3 requests in any 15 minutes are accepted. After 5 codes in a day the user
   * gets one an hour.
   */
  @Post('verification')
  @SignedInByPassword()
  @RateLimited('forgot')
  @ApiOkResponse({ type: OkResult, description: 'The e-mail is already verified.' })
  @ApiAcceptedResponse({ type: OkResult, description: 'A code is on its way.' })
  @ApiProblems('mail_unavailable')
  async askForVerification(@CurrentUser() caller: UserPrincipal, @Res() reply: FastifyReply): Promise<void> {
    await reply.status((await this.emails.askForVerification(caller)) ? 202 : 200).send(OK);
  }

  /**
   * Verify the email
   *
   * @remarks Verifies the email by the code from the mail. If the code belongs to a change of the email, the new
   * email takes effect now. At most 10 requests in any 15 minutes are accepted, and 50 for one code.
   */
  @Post('verify')
  @HttpCode(200)
  @SignedInByPassword()
  @RateLimited('code')
  @ApiProblems(
    invalidFields({ code: 'must be a string' }),
    { code: 'invalid_code', detail: INVALID_EMAIL_CODE },
    'email_taken',
  )
  verify(
    @CurrentUser() caller: UserPrincipal,
    @CurrentActor() actor: UserActor,
    @Body() { code }: VerifyEmailRequest,
  ): Promise<OkResult> {
    return this.emails.prove(caller, code, actor).then(() => OK);
  }

  /**
   * Change the email
   *
   * @remarks A code is mailed to the new email and a notice to the old one; the change is made when the code is sent
   * to `POST /api/me/email/verify`. A second request replaces the first, and a request for the current email cancels
   * the change. The answer does not reveal whether the new email is taken. A request counts as a login for the
   * limits. After 5 codes in a day from one user, or 10 from all users, an email gets one an hour; after 20 codes to
   * any emails, a user can send one an hour. Where the account has a second factor, it needs a `code` of that, too.
   */
  @Put()
  @HttpCode(202)
  @SignedInByPassword()
  @RateLimited('login', 'address', 'account')
  @ApiProblems(
    invalidFields({ email: 'must be an e-mail address', password: 'should not be empty' }),
    'wrong_password',
    { code: 'invalid_code', detail: INVALID_SECOND_FACTOR_CODE },
    'mail_unavailable',
  )
  askForChange(
    @CurrentActor() actor: UserActor,
    @Body() body: ChangeEmailRequest,
    @Client() client: HashClient,
  ): Promise<OkResult> {
    return this.emails.askForChange(actor, body, client).then(() => OK);
  }
}
