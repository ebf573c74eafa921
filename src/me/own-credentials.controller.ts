import { applyDecorators, Body, Controller, Get, HttpCode, Post, Put, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SignedIn, SignedInDirectly } from '../access/access.decorators.js';
import type { UserActor, UserPrincipal } from '../access/principal.js';
import { CurrentActor, CurrentUser } from '../http/request-origin.js';
import { Client, type HashClient } from '../auth/passwords/hash-queue.js';
import { OwnSecondFactorService } from '../accounts/own-second-factor.js';
import { PasswordChangeService } from '../auth/password-change.service.js';
import { breachedPassword, commonPassword } from '../auth/passwords/password.decorators.js';
import { FOREIGN_DOMAIN } from '../auth/registration-policy.js';
import { OK, OkResponse } from '../http/fields.js';
import { timeOrNull } from '../identifiers/text.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import {
  EnrollSecondFactorRequest,
  NO_PROVIDER_LOGIN,
  ChangeEmailRequest,
  ChangePasswordRequest,
  ChangeSecondFactorRequest,
  ConfirmSecondFactorRequest,
  VerifyEmailRequest,
} from './me.requests.js';
import { EnrollmentResponse, RecoveryCodesResponse, SecondFactorResponse } from './me.responses.js';
import { OwnEmailService } from '../accounts/own-email.js';

const WRONG_PROOF = [
  invalidFields({ code: 'must be a string' }),
  'wrong_password',
  'invalid_second_factor_code',
  'second_factor_code_used',
  NO_PROVIDER_LOGIN,
] as const;

/** The user proves the change by a password or a code, so a request counts as a login for the limits. */
const ProvenChange = (...problems: Parameters<typeof ApiProblems>): MethodDecorator =>
  applyDecorators(SignedInDirectly(), RateLimited('login', 'address', 'account'), ApiProblems(...problems));

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
   * @remarks Sets a new password, also the first one. Revokes every other session, and voids codes that have not been exchanged.
   *
   * If two-factor authentication is on, the request needs a `code`.
   *
   * Limit: each request counts as a login.
   */
  @Put('password')
  @ProvenChange(
    invalidFields({ newPassword: 'must be a string' }),
    commonPassword('newPassword'),
    breachedPassword('newPassword'),
    'wrong_password',
    'invalid_second_factor_code',
    'second_factor_code_used',
    NO_PROVIDER_LOGIN,
  )
  changePassword(
    @CurrentActor() actor: UserActor,
    @Body() body: ChangePasswordRequest,
    @Client() client: HashClient,
  ): Promise<OkResponse> {
    return this.passwords.change(actor, body, client).then(() => OK);
  }

  /**
   * Get the 2FA status
   *
   * @remarks Returns whether two-factor authentication is on, since when, and how many recovery codes are left.
   */
  @Get('second-factor')
  @SignedIn()
  async getSecondFactor(@CurrentUser() { id }: UserPrincipal): Promise<SecondFactorResponse> {
    const { enabledAt, recoveryCodesLeft } = await this.secondFactor.find(id);
    return { enabled: enabledAt !== null, enabledAt: timeOrNull(enabledAt), recoveryCodesLeft };
  }

  /**
   * Enroll an authenticator app
   *
   * @remarks Returns a secret for an authenticator app. It takes effect when `POST /api/me/second-factor/confirm` gets
   * a TOTP code within 10 minutes. Another request replaces the secret.
   *
   * Limit: each request counts as a login.
   */
  @Post('second-factor')
  @ProvenChange(
    invalidFields({ password: 'should not be empty' }),
    'wrong_password',
    'second_factor_enabled',
    NO_PROVIDER_LOGIN,
  )
  enrollSecondFactor(
    @CurrentActor() actor: UserActor,
    @Body() { password }: EnrollSecondFactorRequest,
    @Client() client: HashClient,
  ): Promise<EnrollmentResponse> {
    return this.secondFactor.begin(actor, password, client);
  }

  /**
   * Turn on two-factor authentication
   *
   * @remarks Turns on two-factor authentication by a TOTP code of the enrolled app. Returns the recovery codes, which
   * are not shown again.
   *
   * Revokes every other session. The session of the access token then counts as a login with a second factor. If this
   * installation sends emails, the user's email must be verified.
   *
   * Limit: each request counts as a login.
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
   * Renew the recovery codes
   *
   * @remarks Returns ten new recovery codes, which are not shown again, and voids the previous ones.
   *
   * Limit: each request counts as a login.
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
   * Turn off two-factor authentication
   *
   * @remarks Turns off two-factor authentication: a login needs no code. Revokes every other session.
   *
   * An operator loses the operator grant.
   *
   * Limit: each request counts as a login.
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
   * Request a verification code
   *
   * @remarks Sends a verification code to the user's email. The code is valid for 15 minutes.
   *
   * If the email is already verified, no email is sent and the status is 200.
   *
   * Limits: 3 requests in 15 minutes. After 5 codes in a day, the user gets one an hour.
   */
  @Post('email/verification')
  @SignedInDirectly({ unverified: true })
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
   * @remarks Verifies the email by the verification code. If the code belongs to an email change, the new email takes
   * effect.
   *
   * Limits: 10 requests in 15 minutes, and 10,000,000 for one code.
   */
  @Post('email/verify')
  @HttpCode(200)
  @SignedInDirectly({ unverified: true })
  @RateLimited('code')
  @ApiProblems(
    invalidFields({ code: 'must be a string' }),
    'invalid_email_code',
    'email_taken',
    FOREIGN_DOMAIN,
  )
  verifyEmail(@CurrentActor() actor: UserActor, @Body() { code }: VerifyEmailRequest): Promise<OkResponse> {
    return this.emails.prove(actor, code).then(() => OK);
  }

  /**
   * Request an email change
   *
   * @remarks Sends a verification code to the new email and a notice to the old one. The email changes when the code
   * is sent to `POST /api/me/email/verify`. The operator may restrict the domains.
   *
   * A second request replaces the first. A request for the current email cancels the change. The response does not
   * reveal whether the new email is taken. If two-factor authentication is on, the request needs a `code`.
   *
   * Limits: each request counts as a login. An email gets one code an hour after 5 codes of a day from one user, or 10
   * from all users. A user can send one code an hour after 20 codes to any emails.
   */
  @Put('email')
  @HttpCode(202)
  @SignedInDirectly({ unverified: true })
  @RateLimited('login', 'address', 'account')
  @ApiProblems(
    invalidFields({ email: 'must be an email address' }),
    'wrong_password',
    'invalid_second_factor_code',
    'second_factor_code_used',
    NO_PROVIDER_LOGIN,
    'mail_unavailable',
    FOREIGN_DOMAIN,
  )
  requestEmailChange(
    @CurrentActor() actor: UserActor,
    @Body() body: ChangeEmailRequest,
    @Client() client: HashClient,
  ): Promise<OkResponse> {
    return this.emails.askForChange(actor, body, client).then(() => OK);
  }
}
