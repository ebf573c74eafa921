import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { Public, PublicOrService, SignedIn } from '../access/access.decorators.js';
import type { SignInOrigin } from '../access/actor.js';
import { CurrentUser, ServiceIfAny } from '../access/current-caller.decorators.js';
import type { ServicePrincipal, UserPrincipal } from '../access/principal.js';
import { RequestSignInOrigin } from '../http/request-origin.js';
import { ApiProblems, ApiUnion, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { ApiSignIn } from './api-sign-in.decorator.js';
import { AuthService } from './auth.service.js';
import { CodesService } from './sessions/codes.service.js';
import {
  BoundCodeResult,
  CodeResult,
  EXCHANGES,
  ISSUES,
  LOGINS,
  REGISTRATIONS,
  type SignInResult,
  TokenResult,
} from './auth.responses.js';
import { ExchangeCodeRequest, IssueCodeRequest, LoginRequest, RegisterRequest } from './auth.requests.js';
import { INVALID_MAIL_CODE } from './mail-codes/mail-codes.errors.js';
import { Client } from './passwords/client.decorator.js';
import type { HashClient } from './passwords/hash-queue.js';
import { commonPassword } from './passwords/password.decorators.js';

@ApiTags('Auth')
@Controller('api/auth')
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly codes: CodesService,
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
    { code: 'invalid_code', detail: INVALID_MAIL_CODE },
    'email_taken',
  )
  register(
    @Body() body: RegisterRequest,
    @Client() client: HashClient,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<SignInResult> {
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
  ): Promise<SignInResult> {
    return this.auth.login(body, client, origin);
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
    return this.auth.exchangeCode({ ...body, service }, origin);
  }
}
