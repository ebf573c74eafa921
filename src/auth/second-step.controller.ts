import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../access/access.decorators.js';
import type { SignInOrigin } from '../access/principal.js';
import { RequestSignInOrigin } from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { ApiSignIn } from './api-sign-in.decorator.js';
import type { SignInResult } from './auth.responses.js';
import { SecondStepRequest } from './auth.requests.js';
import { INVALID_SECOND_FACTOR_CODE, TOO_MANY_WRONG_CODES } from './second-factor/second-factor.errors.js';
import { SecondStepService } from './second-step.service.js';

@ApiTags('Auth')
@Controller('api/auth/login/second-factor')
export class SecondStepController {
  constructor(private readonly logins: SecondStepService) {}

  /**
   * Log in with a second factor
   *
   * @remarks The second step of a login: the challenge of the first and a code of the authenticator app, which works
   * once, or a recovery code. After 10 wrong TOTP codes in 15 minutes, from wherever they came, only a recovery
   * code is accepted for the rest of that time.
   */
  @Post()
  @HttpCode(200)
  @ApiSignIn(200)
  @Public('clients', 'operators')
  @RateLimited('address')
  @ApiProblems(
    invalidFields({ challenge: 'must be a string', code: 'must be a string' }),
    { code: 'invalid_code', detail: INVALID_SECOND_FACTOR_CODE },
    'invalid_challenge',
    { code: 'rate_limited', detail: TOO_MANY_WRONG_CODES },
  )
  logInWithSecondFactor(
    @Body() body: SecondStepRequest,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<SignInResult> {
    return this.logins.logIn(body, origin);
  }
}
