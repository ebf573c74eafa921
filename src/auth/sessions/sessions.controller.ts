import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { Public, SignedInOrRefreshToken } from '../../access/access.decorators.js';
import type { Origin } from '../../access/actor.js';
import { OK, OkResult } from '../../http/ok.responses.js';
import { RequestOrigin } from '../../http/request-origin.js';
import { ApiProblems, invalidFields } from '../../openapi/decorators.js';
import { LOGOUTS, RefreshResult } from '../auth.responses.js';
import { LogoutRequest, RefreshRequest } from '../auth.requests.js';
import { RefreshService } from './refresh.service.js';
import { CallerIfAny } from '../../access/current-caller.decorators.js';
import type { UserPrincipal } from '../../access/principal.js';
import { SessionEndingService } from './session-ending.service.js';

@ApiTags('Auth')
@Controller('api/auth/refresh')
export class RefreshController {
  constructor(private readonly refreshes: RefreshService) {}

  /**
   * Get a new token for a refresh token
   *
   * @remarks The refresh token in the answer replaces the one that was sent. In case the answer was lost, the old one
   * can be sent again for 30 seconds, unless configured otherwise, and gets equally valid tokens. After that, using
   * the old one ends the session, because a thief may hold it.
   */
  @Post()
  @HttpCode(200)
  @Public()
  @ApiProblems(invalidFields({ refreshToken: 'must be a string' }), 'invalid_refresh_token')
  refresh(@Body() body: RefreshRequest, @RequestOrigin() origin: Origin): Promise<RefreshResult> {
    return this.refreshes.refresh(body.refreshToken, origin);
  }
}

@ApiTags('Auth')
@Controller('api/auth/logout')
export class LogoutController {
  constructor(private readonly ending: SessionEndingService) {}

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
  async logOut(
    @CallerIfAny() caller: UserPrincipal | undefined,
    @Body() { refreshToken }: LogoutRequest,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResult> {
    await this.ending.logOut({ caller, refreshToken }, origin);
    return OK;
  }
}
