import { Body, Controller, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SignedInByPassword } from '../access/access.decorators.js';
import type { UserActor } from '../access/principal.js';
import { CurrentActor } from '../http/request-origin.js';
import { OK, OkResult } from '../http/ok.responses.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { ChangePasswordRequest } from './me.requests.js';
import { Client, type HashClient } from '../auth/passwords/hash-queue.js';
import { commonPassword } from '../auth/passwords/password.decorators.js';
import { PasswordChangeService } from '../auth/password-change.service.js';
import { INVALID_SECOND_FACTOR_CODE } from '../auth/second-factor/second-factor.errors.js';

@ApiTags('Me')
@Controller('api/me/password')
export class OwnPasswordController {
  constructor(private readonly passwords: PasswordChangeService) {}

  /**
   * Change the password
   *
   * @remarks Ends every session but that of the token, and voids codes that have not been exchanged. A request counts
   * as a login for the limits, and requires a token from a login by password. Where the account has a second factor, it
   * needs a `code` of that, too.
   */
  @Put()
  @SignedInByPassword()
  @RateLimited('login', 'address', 'account')
  @ApiProblems(
    invalidFields({ currentPassword: 'should not be empty', newPassword: 'must be a string' }),
    commonPassword('newPassword'),
    'wrong_password',
    { code: 'invalid_code', detail: INVALID_SECOND_FACTOR_CODE },
  )
  changePassword(
    @CurrentActor() actor: UserActor,
    @Body() body: ChangePasswordRequest,
    @Client() client: HashClient,
  ): Promise<OkResult> {
    return this.passwords.change(actor, body, client).then(() => OK);
  }
}
