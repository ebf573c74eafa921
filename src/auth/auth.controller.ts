import { Body, Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiHeader } from '@nestjs/swagger';
import { Public, PublicOrService, SignedIn, SignedInOrRefreshToken } from '../access/access.decorators.js';
import { BOUND_TOKEN } from '../access/route-access.js';
import type { Origin, ServicePrincipal, SignInOrigin, UserPrincipal } from '../access/principal.js';
import { Env } from '../config/env.js';
import { HasLeft } from '../http/deadline.js';
import { ApiIncluded, Included } from '../http/included.js';
import { OK, OkResponse, OnlyFields } from '../http/fields.js';
import {
  CallerIfAny,
  CurrentUser,
  RequestOrigin,
  RequestSignInOrigin,
  ServiceIfAny,
} from '../http/request-origin.js';
import { ApiProblems, EXCHANGE_KEY, invalidFields } from '../openapi/decorators.js';
import { SecretKey } from '../requests/idempotency.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { LoginRequest, RegisterRequest, CompleteLoginRequest } from './auth.requests.js';
import { AuthConfigResponse, LOGINS, REGISTRATIONS } from './auth.responses.js';
import { AuthService } from './auth.service.js';
import {
  ApiSignIn,
  LoginResponse,
  CodeResponse,
  EXCHANGES,
  ISSUES,
  LOGOUTS,
  RefreshResponse,
  TokenResponse,
} from './sessions/sessions.responses.js';
import { Client, type HashClient } from './passwords/hash-queue.js';
import { breachedPassword, commonPassword } from './passwords/password.decorators.js';
import { TOO_MANY_WRONG_CODES } from './second-factor/second-factor-verification.js';
import { providersIn } from './providers/providers.responses.js';
import { ProvidersRepository } from './providers/providers.repository.js';
import { CodesService } from './sessions/codes.service.js';
import {
  ExchangeCodeRequest,
  IssueCodeRequest,
  LogoutRequest,
  RefreshRequest,
} from './sessions/sessions.requests.js';
import { SessionsService } from './sessions/sessions.service.js';

const PROVIDER_REQUIRED = { code: 'provider_login_required', extensions: { provider: 'acme' } } as const;
const LOGINS_ONLY = ['logins'] as const;

@Controller('api/auth')
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly codes: CodesService,
    private readonly sessions: SessionsService,
    private readonly providers: ProvidersRepository,
    private readonly env: Env,
  ) {}

  /**
   * Register a user
   *
   * @remarks Creates a user with an email and a password, and opens a session. Returns an access token, and a refresh
   * token if `refresh` is true.
   *
   * With the code of an invitation to this email, the user also joins the organization. The operator may restrict who
   * can register: see `GET /api/auth/config`. Users of a required provider log in there, and then accept the invitation.
   *
   * Limit: 5 requests an hour for one email from one client IP address.
   */
  @Post('register')
  @ApiBody({ type: RegisterRequest, examples: REGISTRATIONS })
  @ApiSignIn(201)
  @Public()
  @RateLimited('register', 'address')
  @ApiProblems(
    invalidFields({ email: 'must be an email address', password: 'must be a string' }),
    commonPassword('password'),
    breachedPassword('password'),
    'registration_closed',
    PROVIDER_REQUIRED,
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
   * @remarks Authenticates a user by email and password, and opens a session. Returns an access token, and a refresh
   * token if `refresh` is true.
   *
   * If two-factor authentication is on, login fails with `second_factor_required` and a `challenge` for
   * `POST /api/auth/login/second-factor`. An unknown email and a wrong password return the same error.
   * If the password is right, but the user must log in at a provider, the error names this `provider`.
   *
   * Limit: 10 requests in 15 minutes for one email from one client IP address.
   */
  @Post('login')
  @HttpCode(200)
  @ApiBody({ type: LoginRequest, examples: LOGINS })
  @ApiSignIn(200)
  @Public('clients', 'operators')
  @RateLimited('login', 'address', 'account')
  @ApiProblems(
    invalidFields({ email: 'must be an email address', password: 'should not be empty' }),
    'invalid_credentials',
    'account_disabled',
    PROVIDER_REQUIRED,
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
   * Complete a login with 2FA
   *
   * @remarks Completes a login with the `challenge` of its first step and a TOTP code or a recovery code. Each code
   * works once.
   *
   * Limit: after 10 wrong TOTP codes in 15 minutes, from any IP address, only a recovery code is accepted for the rest
   * of that time.
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
    PROVIDER_REQUIRED,
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
   * @remarks Issues a code that hands the session off to a service. Send the service the code, never the access token.
   *
   * Send an `audience`: then only that service can exchange the code, and the new access token is valid for that service
   * alone. Without one, the token opens all routes that a delegated session can use. With a `codeChallenge` (RFC 7636),
   * only the holder of the verifier can exchange the code. An unknown field is an error, because a misspelled one would
   * issue a code without these bindings.
   */
  @Post('code')
  @SignedIn()
  @OnlyFields('codeChallenge', 'codeChallengeMethod', 'audience')
  @ApiBody({ type: IssueCodeRequest, required: false, examples: ISSUES })
  @ApiCreatedResponse({ type: CodeResponse })
  @ApiProblems(invalidFields({ codeChallenge: 'must be 43 base64url characters' }), 'audience_required')
  issueCode(@CurrentUser() caller: UserPrincipal, @Body() body: IssueCodeRequest): Promise<CodeResponse> {
    return this.codes.issue(caller.sessionId, body);
  }

  /**
   * Exchange a one-time code
   *
   * @remarks Exchanges a one-time code for an access token of a delegated session. A code can be exchanged once.
   *
   * A code with an `audience` needs the credentials of that service. Without them, or with those of another service,
   * the response is `invalid_code`, and the code stays valid. A wrong secret, such as one that was cut, is
   * `invalid_client`. Any other `Authorization` header is ignored.
   *
   * If the response is lost, repeat the exchange with its `Idempotency-Key` within the lifetime of a code (60 seconds by
   * default): it returns another access token of the same session. Any other second exchange fails and revokes every
   * delegated session of this login hand-off. The user's own session is not affected.
   */
  @Post('code/exchange')
  @ApiBody({ type: ExchangeCodeRequest, examples: EXCHANGES })
  @HttpCode(200)
  @PublicOrService()
  @ApiHeader(EXCHANGE_KEY)
  @ApiProblems(invalidFields({ code: 'must be a string' }), 'invalid_code', 'invalid_client')
  exchangeCode(
    @Body() body: ExchangeCodeRequest,
    @ServiceIfAny() service: ServicePrincipal | undefined,
    @RequestSignInOrigin() origin: SignInOrigin,
    @SecretKey() key: string | undefined,
  ): Promise<TokenResponse> {
    return this.codes.exchange(body, service, origin, key);
  }

  /**
   * Refresh the access token
   *
   * @remarks Returns a new access token and a new refresh token, which replaces the one in the request.
   *
   * If the response is lost, send the previous refresh token again, now or in a week: it works until one of the new
   * tokens is used. After that, it works for 30 seconds more (configurable), for windows that refresh at once. Then
   * Accounts assumes that it was stolen and revokes the session. A refresh that is repeated after these 30 seconds
   * replaces the tokens whose response was lost.
   */
  @Post('refresh')
  @HttpCode(200)
  @Public()
  @ApiProblems(invalidFields({ refreshToken: 'must be a string' }), 'invalid_refresh_token')
  refresh(
    @Body() body: RefreshRequest,
    @RequestOrigin() origin: Origin,
    @HasLeft() hasLeft: HasLeft,
  ): Promise<RefreshResponse> {
    return this.sessions.refresh(body.refreshToken, origin, hasLeft);
  }

  /**
   * Log out
   *
   * @remarks Revokes the session of the access token, or of the refresh token in the body, and every session that its
   * one-time codes opened.
   *
   * If both tokens are sent, the access token is ignored. The access token of a delegated session revokes the whole
   * login hand-off: the first session that a code of the login opened, and every session below it. The session of the
   * login stays. A token that one service handed on to another cannot log out.
   */
  @Post('logout')
  @HttpCode(200)
  @SignedInOrRefreshToken()
  @ApiBody({ type: LogoutRequest, required: false, examples: LOGOUTS })
  @ApiProblems(
    invalidFields({ refreshToken: 'must be a string' }),
    { code: 'insufficient_scope', detail: BOUND_TOKEN },
    'invalid_refresh_token',
  )
  async logOut(
    @CallerIfAny() caller: UserPrincipal | undefined,
    @Body() { refreshToken }: LogoutRequest,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResponse> {
    await this.sessions.logOut(caller, refreshToken, origin);
    return OK;
  }

  /**
   * Get the configuration for clients
   *
   * @remarks Returns what a client needs to build its forms: who can register, whether users must verify their email,
   * and the length of passwords. It may be cached for a minute.
   *
   * With `include=logins`, it also returns the providers at which users can log in, and whether users can paste a code.
   */
  @Get('config')
  @Public('clients', 'services', 'operators')
  @ApiIncluded(LOGINS_ONLY, 'If `logins`, the response contains `providers` and `crossDeviceLogin`.')
  @Header('Cache-Control', 'public, max-age=60')
  async getAuthConfig(@Included(LOGINS_ONLY) included: Included): Promise<AuthConfigResponse> {
    const { registration, emailVerification, passwordMinLength, smtp, jwtIssuer, jwtAudience } = this.env;
    return {
      registration,
      emailVerification,
      passwordMinLength,
      emailEnabled: smtp !== undefined,
      issuer: jwtIssuer,
      tokenAudience: jwtAudience,
      ...(included.has('logins') && {
        providers: providersIn(await this.providers.findShown()),
        crossDeviceLogin: this.env.crossDeviceLogin,
      }),
    };
  }
}
