import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { SignedInOrRefreshToken } from '../../access/access.decorators.js';
import type { Origin } from '../../access/actor.js';
import { CallerIfAny } from '../../access/current-caller.decorators.js';
import type { UserPrincipal } from '../../access/principal.js';
import { RequestOrigin } from '../../http/request-origin.js';
import { OkResult } from '../../http/ok.responses.js';
import { ApiProblems, invalidFields } from '../../openapi/decorators.js';
import { LogoutRequest } from '../auth.requests.js';
import { LOGOUTS } from '../auth.responses.js';
import { LogoutService } from './logout.service.js';

@ApiTags('Auth')
@Controller('api/auth/logout')
export class LogoutController {
  constructor(private readonly logouts: LogoutService) {}

  /**
   * Log out
   *
   * @remarks Ends the session of the access token, or of the refresh token in the body, and every session that its
   * codes opened. A refresh token needs no access token beside it; if one is sent, it is ignored. A token from a
   * one-time code ends the whole login hand-off: the first session that a code of the login opened, and every session
   * below it. The login stays.
   */
  @Post()
  @HttpCode(200)
  @SignedInOrRefreshToken()
  @ApiBody({ type: LogoutRequest, required: false, examples: LOGOUTS })
  @ApiProblems(invalidFields({ refreshToken: 'must be a string' }), 'invalid_refresh_token')
  logOut(
    @CallerIfAny() caller: UserPrincipal | undefined,
    @Body() { refreshToken }: LogoutRequest,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResult> {
    return this.logouts.end({ caller, refreshToken }, origin);
  }
}
