import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { Public } from '../access/access.decorators.js';
import type { SignInOrigin } from '../access/principal.js';
import { RequestSignInOrigin } from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { ApiSignIn, LOGINS, REGISTRATIONS, type SignInResult } from './auth.responses.js';
import { AuthService } from './auth.service.js';
import { LoginRequest, RegisterRequest, SecondStepRequest } from './auth.requests.js';
import { Client, type HashClient } from './passwords/hash-queue.js';
import { commonPassword } from './passwords/password.decorators.js';
import { TOO_MANY_WRONG_CODES } from './second-factor/second-factor.errors.js';

@ApiTags('Auth')
@Controller('api/auth')
export class AuthController {
  constructor(private readonly auth: AuthService) {}

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
  logInWithSecondFactor(
    @Body() body: SecondStepRequest,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<SignInResult> {
    return this.auth.logInWithSecondFactor(body, origin);
  }
}
