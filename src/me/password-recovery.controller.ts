import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../access/access.decorators.js';
import type { Origin } from '../access/principal.js';
import { Client, type HashClient } from '../auth/passwords/hash-queue.js';
import { commonPassword } from '../auth/passwords/password.decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { RequestOrigin } from '../http/request-origin.js';
import { OK, OkResult } from '../http/fields.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ForgotPasswordRequest, ResetPasswordRequest } from '../auth/auth.requests.js';
import { PasswordRecoveryService } from '../accounts/password-reset.js';

@ApiTags('Auth')
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
  forgot(@Body() { email }: ForgotPasswordRequest, @RequestOrigin() origin: Origin): Promise<OkResult> {
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
  reset(
    @Body() body: ResetPasswordRequest,
    @Client() client: HashClient,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResult> {
    return this.recovery.reset(body, client, origin).then(() => OK);
  }
}
