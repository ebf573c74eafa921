import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { Public } from '../access/access.decorators.js';
import type { Origin } from '../access/principal.js';
import { PasswordResetService } from '../accounts/password-reset.js';
import { RequestPasswordResetRequest, ResetPasswordRequest } from '../auth/auth.requests.js';
import { Client, type HashClient } from '../auth/passwords/hash-queue.js';
import { breachedPassword, commonPassword } from '../auth/passwords/password.decorators.js';
import { OK, OkResponse } from '../http/fields.js';
import { RequestOrigin } from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';

@Controller('api/auth/password')
export class PasswordResetController {
  constructor(private readonly passwordReset: PasswordResetService) {}

  /**
   * Request a password reset
   *
   * @remarks Sends a reset code to the email. The code is valid for 15 minutes.
   *
   * The response is the same if no user has the email.
   *
   * Limits: 3 requests in 15 minutes for one email from one client IP address. After 5 codes in a day for one client
   * IP address, an email gets one an hour. After 10 codes for all IP addresses, it gets one in 15 minutes.
   */
  @Post('forgot')
  @HttpCode(202)
  @Public()
  @RateLimited('forgot', 'address')
  @ApiProblems(invalidFields({ email: 'must be an email address' }), 'mail_unavailable')
  requestPasswordReset(
    @Body() { email }: RequestPasswordResetRequest,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResponse> {
    return this.passwordReset.ask(email, origin).then(() => OK);
  }

  /**
   * Reset the password
   *
   * @remarks Sets a new password by the reset code from the email or from an operator, and revokes every session of
   * the user. A code works once.
   *
   * Limits: 10 requests in 15 minutes for one email from one client IP address, and 10,000,000 for one code.
   */
  @Post('reset')
  @HttpCode(200)
  @Public()
  @RateLimited('code', 'address')
  @ApiProblems(
    invalidFields({
      email: 'must be an email address',
      code: 'must be a string',
      newPassword: 'must be a string',
    }),
    commonPassword('newPassword'),
    breachedPassword('newPassword'),
    'invalid_email_code',
  )
  resetPassword(
    @Body() body: ResetPasswordRequest,
    @Client() client: HashClient,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResponse> {
    return this.passwordReset.reset(body, client, origin).then(() => OK);
  }
}
