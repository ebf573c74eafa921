import { applyDecorators, Body, Controller, Get, HttpCode, Post, Put, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public, SignedIn, SignedInByPassword } from '../access/access.decorators.js';
import type { Origin, UserActor, UserPrincipal } from '../access/principal.js';
import { CurrentActor, CurrentUser, RequestOrigin } from '../http/request-origin.js';
import { Client, type HashClient } from '../auth/passwords/hash-queue.js';
import { OwnSecondFactorService } from '../accounts/own-second-factor.js';
import { PasswordChangeService } from '../auth/password-change.service.js';
import { commonPassword } from '../auth/passwords/password.decorators.js';
import { OK, OkResponse } from '../http/fields.js';
import { timeOrNull } from '../identifiers/text.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import {
  EnrollSecondFactorRequest,
  ChangeEmailRequest,
  ChangePasswordRequest,
  ChangeSecondFactorRequest,
  ConfirmSecondFactorRequest,
  VerifyEmailRequest,
} from './me.requests.js';
import { EnrollmentResponse, RecoveryCodesResponse, SecondFactorResponse } from './me.responses.js';
import { OwnEmailService } from '../accounts/own-email.js';
import { RequestPasswordResetRequest, ResetPasswordRequest } from '../auth/auth.requests.js';
import { PasswordRecoveryService } from '../accounts/password-reset.js';

const WRONG_PROOF = [
  invalidFields({ password: 'should not be empty', code: 'must be a string' }),
  'wrong_password',
  'invalid_second_factor_code',
  'second_factor_code_used',
] as const;

/** The user proves the change by a password or a code, so a request counts as a login for the limits. */
const ProvenChange = (...problems: Parameters<typeof ApiProblems>): MethodDecorator =>
  applyDecorators(SignedInByPassword(), RateLimited('login', 'address', 'account'), ApiProblems(...problems));

@Controller('api/me')
export class OwnCredentialsController {
  constructor(
    private readonly passwords: PasswordChangeService,
    private readonly secondFactor: OwnSecondFactorService,
    private readonly emails: OwnEmailService,
  ) {}

  /**
   * Change the password
   *
   * @remarks Ends every session but that of the token, and voids codes that have not been exchanged. A request counts
   * as a login for the limits, and requires a token from a login by password. Where the account has a second factor, it
   * needs a `code` of that, too.
   */
  @Put('password')
  @ProvenChange(
    invalidFields({ currentPassword: 'should not be empty', newPassword: 'must be a string' }),
    commonPassword('newPassword'),
    'wrong_password',
    'invalid_second_factor_code',
    'second_factor_code_used',
  )
  changePassword(
    @CurrentActor() actor: UserActor,
    @Body() body: ChangePasswordRequest,
    @Client() client: HashClient,
  ): Promise<OkResponse> {
    return this.passwords.change(actor, body, client).then(() => OK);
  }

  /**
   * Read whether the account has a second factor
   *
   * @remarks Tells since when a login asks for it, and how many recovery codes are left.
   */
  @Get('second-factor')
  @SignedIn()
  async getSecondFactor(@CurrentUser() { id }: UserPrincipal): Promise<SecondFactorResponse> {
    const { enabledAt, recoveryCodesLeft } = await this.secondFactor.find(id);
    return { enabled: enabledAt !== null, enabledAt: timeOrNull(enabledAt), recoveryCodesLeft };
  }

  /**
   * Set up a second factor
   *
   * @remarks Returns a secret for an authenticator app. It takes effect once it is confirmed with a TOTP code,
   * within 10 minutes; asking again replaces it. A request counts as a login for the limits, and requires a token from
   * a login by password.
   */
  @Post('second-factor')
  @ProvenChange(invalidFields({ password: 'should not be empty' }), 'wrong_password', 'second_factor_enabled')
  enrollSecondFactor(
    @CurrentUser() { id }: UserPrincipal,
    @Body() { password }: EnrollSecondFactorRequest,
    @Client() client: HashClient,
  ): Promise<EnrollmentResponse> {
    return this.secondFactor.begin(id, password, client);
  }

  /**
   * Confirm a second factor
   *
   * @remarks From now on a login asks for a TOTP code, each of which works once, or for a recovery code. Shows the
   * recovery codes, this time only. Ends every session but that of the token, which counts as a login with a second
   * factor. A request counts as a login for the limits, and requires a token from a login by password. If this service
   * sends emails, it also requires a verified email.
   */
  @Post('second-factor/confirm')
  @HttpCode(200)
  @ProvenChange(
    invalidFields({ code: 'must be a string' }),
    'invalid_second_factor_code',
    'second_factor_enabled',
    'verified_email_required',
  )
  async confirmSecondFactor(
    @CurrentActor() actor: UserActor,
    @Body() { code }: ConfirmSecondFactorRequest,
  ): Promise<RecoveryCodesResponse> {
    return { recoveryCodes: await this.secondFactor.confirm(actor, code) };
  }

  /**
   * Make new recovery codes
   *
   * @remarks Shows ten new ones, this time only, and voids the previous ones. A request counts as a login for the limits,
   * and requires a token from a login by password.
   */
  @Post('second-factor/recovery-codes')
  @HttpCode(200)
  @ProvenChange(...WRONG_PROOF)
  async renewRecoveryCodes(
    @CurrentActor() actor: UserActor,
    @Body() body: ChangeSecondFactorRequest,
    @Client() client: HashClient,
  ): Promise<RecoveryCodesResponse> {
    return { recoveryCodes: await this.secondFactor.renewRecoveryCodes(actor, body, client) };
  }

  /**
   * Remove the second factor
   *
   * @remarks The password alone logs in again. Ends every session but that of the token. An operator is no longer an
   * operator afterwards. A request counts as a login for the limits, and requires a token from a login by password.
   */
  @Post('second-factor/remove')
  @HttpCode(200)
  @ProvenChange(...WRONG_PROOF)
  removeSecondFactor(
    @CurrentActor() actor: UserActor,
    @Body() body: ChangeSecondFactorRequest,
    @Client() client: HashClient,
  ): Promise<OkResponse> {
    return this.secondFactor.remove(actor, body, client).then(() => OK);
  }

  /**
   * Request a code to verify the email
   *
   * @remarks A code that is valid for 15 minutes is mailed to the email of the account. The status is 200 if the
   * email is already verified. At most 3 requests in any 15 minutes are accepted. After 5 codes in a day the user
   * gets one an hour.
   */
  @Post('email/verification')
  @SignedInByPassword()
  @RateLimited('forgot')
  @ApiOkResponse({ type: OkResponse, description: 'The e-mail is already verified.' })
  @ApiAcceptedResponse({ type: OkResponse, description: 'A code is on its way.' })
  @ApiProblems('mail_unavailable')
  async requestEmailVerification(
    @CurrentUser() { id }: UserPrincipal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await reply.status((await this.emails.askForVerification(id)) ? 202 : 200).send(OK);
  }

  /**
   * Verify the email
   *
   * @remarks Verifies the email by the code from the mail. If the code belongs to a change of the email, the new
   * email takes effect now. At most 10 requests in any 15 minutes are accepted, and 50 for one code.
   */
  @Post('email/verify')
  @HttpCode(200)
  @SignedInByPassword()
  @RateLimited('code')
  @ApiProblems(invalidFields({ code: 'must be a string' }), 'invalid_email_code', 'email_taken')
  verifyEmail(@CurrentActor() actor: UserActor, @Body() { code }: VerifyEmailRequest): Promise<OkResponse> {
    return this.emails.prove(actor, code).then(() => OK);
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
  @Put('email')
  @HttpCode(202)
  @ProvenChange(
    invalidFields({ email: 'must be an e-mail address', password: 'should not be empty' }),
    'wrong_password',
    'invalid_second_factor_code',
    'second_factor_code_used',
    'mail_unavailable',
  )
  requestEmailChange(
    @CurrentActor() actor: UserActor,
    @Body() body: ChangeEmailRequest,
    @Client() client: HashClient,
  ): Promise<OkResponse> {
    return this.emails.askForChange(actor, body, client).then(() => OK);
  }
}

@Controller('api/auth/password')
export class PasswordRecoveryController {
  constructor(private readonly recovery: PasswordRecoveryService) {}

  /**
   * Request a code to reset the password
   *
   * @remarks A code that is valid for 15 minutes is mailed to the email if it has an account; the answer is the same
   * if it has none. At most 3 requests in any 15 minutes are accepted from one client IP address for one email. After 5
   * codes in a day for one client IP address, an email gets one an hour; after 10 for all addresses, one in 15 minutes.
   */
  @Post('forgot')
  @HttpCode(202)
  @Public()
  @RateLimited('forgot', 'address')
  @ApiProblems(invalidFields({ email: 'must be an e-mail address' }), 'mail_unavailable')
  requestPasswordReset(
    @Body() { email }: RequestPasswordResetRequest,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResponse> {
    return this.recovery.ask(email, origin).then(() => OK);
  }

  /**
   * Set a new password
   *
   * @remarks Sets the password by the code from the mail or from an operator, which is valid once, and ends every
   * session. At most 10 requests in any 15 minutes are accepted from one client IP address for one email, and 50 for
   * one code.
   */
  @Post('reset')
  @HttpCode(200)
  @Public()
  @RateLimited('code', 'address')
  @ApiProblems(
    invalidFields({
      email: 'must be an e-mail address',
      code: 'must be a string',
      newPassword: 'must be a string',
    }),
    commonPassword('newPassword'),
    'invalid_email_code',
  )
  resetPassword(
    @Body() body: ResetPasswordRequest,
    @Client() client: HashClient,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResponse> {
    return this.recovery.reset(body, client, origin).then(() => OK);
  }
}
