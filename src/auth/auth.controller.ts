import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse } from '@nestjs/swagger';
import { Public, PublicOrService, SignedIn, SignedInOrRefreshToken } from '../access/access.decorators.js';
import type { Origin, ServicePrincipal, SignInOrigin, UserPrincipal } from '../access/principal.js';
import { OK, OkResponse } from '../http/fields.js';
import {
  CallerIfAny,
  CurrentUser,
  RequestOrigin,
  RequestSignInOrigin,
  ServiceIfAny,
} from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { LoginRequest, RegisterRequest, CompleteLoginRequest } from './auth.requests.js';
import { ApiSignIn, LOGINS, REGISTRATIONS, LoginResponse } from './auth.responses.js';
import { AuthService } from './auth.service.js';
import { Client, type HashClient } from './passwords/hash-queue.js';
import { commonPassword } from './passwords/password.decorators.js';
import { TOO_MANY_WRONG_CODES } from './second-factor/second-factor-verification.js';
import { CodesService } from './sessions/codes.service.js';
import {
  ExchangeCodeRequest,
  IssueCodeRequest,
  LogoutRequest,
  RefreshRequest,
} from './sessions/sessions.requests.js';
import {
  CodeResponse,
  EXCHANGES,
  ISSUES,
  LOGOUTS,
  RefreshResponse,
  TokenResponse,
} from './sessions/sessions.responses.js';
import { SessionsService } from './sessions/sessions.service.js';

@Controller('api/auth')
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly codes: CodesService,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * Register an account
   *
   * @remarks If the request has the code of an invitation to this email, the account joins the organization at once.
   * At most 5 requests in any hour are accepted from one client IP address for one email.
   */
  @Post('register')
  @ApiBody({ type: RegisterRequest, examples: REGISTRATIONS })
  @ApiSignIn(201)
  @Public()
  @RateLimited('register', 'address')
  @ApiProblems(
    invalidFields({ email: 'must be an e-mail address', password: 'must be a string' }),
    commonPassword('password'),
    'invalid_invitation_code',
    'email_taken',
  )
  register(
    @Body() body: RegisterRequest,
    @Client() client: HashClient,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<LoginResponse> {
    return this.auth.register(body, client, origin);
  }

  /**
   * Log in
   *
   * @remarks An unknown email and a wrong password get the same answer. Where the account has a second factor, the
   * answer to the right password is `second_factor_required` with a `challenge`, which takes a code to
   * `POST /api/auth/login/second-factor`. At most 10 requests in any 15 minutes are accepted from one client IP address for
   * one email.
   */
  @Post('login')
  @HttpCode(200)
  @ApiBody({ type: LoginRequest, examples: LOGINS })
  @ApiSignIn(200)
  @Public('clients', 'operators')
  @RateLimited('login', 'address', 'account')
  @ApiProblems(
    invalidFields({ email: 'must be an e-mail address', password: 'should not be empty' }),
    'invalid_credentials',
    'account_disabled',
    'second_factor_required',
  )
  login(
    @Body() body: LoginRequest,
    @Client() client: HashClient,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<LoginResponse> {
    return this.auth.login(body, client, origin);
  }

  /**
   * Log in with a second factor
   *
   * @remarks The second step of a login: the challenge of the first and a code of the authenticator app, which works
   * once, or a recovery code. After 10 wrong TOTP codes in 15 minutes, from wherever they came, only a recovery
   * code is accepted for the rest of that time.
   */
  @Post('login/second-factor')
  @HttpCode(200)
  @ApiSignIn(200)
  @Public('clients', 'operators')
  @RateLimited('address')
  @ApiProblems(
    invalidFields({ challenge: 'must be a string', code: 'must be a string' }),
    'invalid_second_factor_code',
    'second_factor_code_used',
    'invalid_challenge',
    { code: 'rate_limited', detail: TOO_MANY_WRONG_CODES },
  )
  completeLogin(
    @Body() body: CompleteLoginRequest,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<LoginResponse> {
    return this.auth.logInWithSecondFactor(body, origin);
  }

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
  @ApiCreatedResponse({ type: CodeResponse })
  @ApiProblems(invalidFields({ codeChallenge: 'must be 43 base64url characters' }), 'audience_required')
  issueCode(@CurrentUser() caller: UserPrincipal, @Body() body: IssueCodeRequest): Promise<CodeResponse> {
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
  ): Promise<TokenResponse> {
    return this.codes.exchange(body, service, origin);
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
  refresh(@Body() body: RefreshRequest, @RequestOrigin() origin: Origin): Promise<RefreshResponse> {
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
  ): Promise<OkResponse> {
    await this.sessions.logOut(caller, refreshToken, origin);
    return OK;
  }
}
