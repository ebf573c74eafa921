import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { Public, PublicOrService, SignedIn, SignedInOrRefreshToken } from '../../access/access.decorators.js';
import type { Origin, ServicePrincipal, SignInOrigin, UserPrincipal } from '../../access/principal.js';
import {
  CallerIfAny,
  CurrentUser,
  RequestOrigin,
  RequestSignInOrigin,
  ServiceIfAny,
} from '../../http/request-origin.js';
import { OK, OkResult } from '../../http/fields.js';
import { ApiProblems, ApiUnion, invalidFields } from '../../openapi/decorators.js';
import { CodesService } from './codes.service.js';
import { ExchangeCodeRequest, IssueCodeRequest, LogoutRequest, RefreshRequest } from './sessions.requests.js';
import {
  BoundCodeResult,
  CodeResult,
  EXCHANGES,
  ISSUES,
  LOGOUTS,
  RefreshResult,
  TokenResult,
} from './sessions.responses.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('Auth')
@Controller('api/auth')
export class SessionsController {
  constructor(
    private readonly codes: CodesService,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * Issue a one-time code
   *
   * @remarks Pass the code, never the token, to the service that will act for the user. If the request has a
   * `codeChallenge` (RFC 7636), only the holder of the verifier can exchange the code; if it has an `audience`, only
   * that service, and the token is for it alone.
   */
  @Post('code')
  @SignedIn()
  @ApiBody({ type: IssueCodeRequest, required: false, examples: ISSUES })
  @ApiUnion(201, 'IssuedCode', CodeResult, BoundCodeResult)
  @ApiProblems(invalidFields({ codeChallenge: 'must be 43 base64url characters' }), 'audience_required')
  issueCode(
    @CurrentUser() caller: UserPrincipal,
    @Body() body: IssueCodeRequest,
  ): Promise<CodeResult | BoundCodeResult> {
    return this.codes.issue(caller.sessionId, body);
  }

  /**
   * Exchange a one-time code for a token
   *
   * @remarks A code for one service needs the credentials of that service (HTTP Basic): without them, or with those of
   * another, the answer is `invalid_code`, and the code stays good. A code can be exchanged once. A second exchange is
   * refused and ends the whole login hand-off: the first session that a code of the login opened, and every session
   * below it. The login stays.
   */
  @Post('code/exchange')
  @ApiBody({ type: ExchangeCodeRequest, examples: EXCHANGES })
  @HttpCode(200)
  @PublicOrService()
  @ApiProblems(invalidFields({ code: 'must be a string' }), 'invalid_code', 'invalid_client')
  exchangeCode(
    @Body() body: ExchangeCodeRequest,
    @ServiceIfAny() service: ServicePrincipal | undefined,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<TokenResult> {
    return this.codes.exchange({ ...body, service }, origin);
  }

  /**
   * Get a new token for a refresh token
   *
   * @remarks The refresh token in the answer replaces the one that was sent. In case the answer was lost, the old one
   * can be sent again for 30 seconds, unless configured otherwise, and gets equally valid tokens. After that, using
   * the old one ends the session, because a thief may hold it.
   */
  @Post('refresh')
  @HttpCode(200)
  @Public()
  @ApiProblems(invalidFields({ refreshToken: 'must be a string' }), 'invalid_refresh_token')
  refresh(@Body() body: RefreshRequest, @RequestOrigin() origin: Origin): Promise<RefreshResult> {
    return this.sessions.refresh(body.refreshToken, origin);
  }

  /**
   * Log out
   *
   * @remarks Ends the session of the access token, or of the refresh token in the body, and every session that its
   * codes opened. A refresh token needs no access token beside it; if one is sent, it is ignored. A token from a
   * one-time code ends the whole login hand-off: the first session that a code of the login opened, and every session
   * below it. The login stays.
   */
  @Post('logout')
  @HttpCode(200)
  @SignedInOrRefreshToken()
  @ApiBody({ type: LogoutRequest, required: false, examples: LOGOUTS })
  @ApiProblems(invalidFields({ refreshToken: 'must be a string' }), 'invalid_refresh_token')
  async logOut(
    @CallerIfAny() caller: UserPrincipal | undefined,
    @Body() { refreshToken }: LogoutRequest,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResult> {
    await this.sessions.logOut({ caller, refreshToken }, origin);
    return OK;
  }
}
