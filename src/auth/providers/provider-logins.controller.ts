import { Body, Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../../access/access.decorators.js';
import type { SignInOrigin } from '../../access/principal.js';
import { LongPoll } from '../../http/deadline.js';
import { ApiNameInPath, NamePipe } from '../../http/fields.js';
import { RequestSignInOrigin } from '../../http/request-origin.js';
import { ApiProblems, invalidFields } from '../../openapi/decorators.js';
import { RateLimited } from '../../rate-limits/rate-limit.guard.js';
import { ApiSignIn, LoginResponse } from '../sessions/sessions.responses.js';
import { Client, type HashClient } from '../passwords/hash-queue.js';
import { ProviderLoginFinish } from './provider-login-finish.js';
import { InvalidProviderLoginError, ProviderLoginsService } from './provider-logins.service.js';
import { PROVIDER_NAME } from './provider-settings.js';
import { FinishProviderLoginRequest, StartProviderLoginRequest } from './providers.requests.js';
import { ProviderLoginStart } from './providers.responses.js';

const A_PAGE = `3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo

Enter it only into a program that you have just started yourself.

Program: Firefox
IP address: 203.0.113.7
Started: 2026-11-22 09:00 UTC
`;

const PROVIDER = new NamePipe(PROVIDER_NAME);
const ApiProviderName = (): MethodDecorator =>
  ApiNameInPath(PROVIDER_NAME, 'Name of the provider, from `GET /api/auth/config?include=logins`.');

@Controller('api/auth/providers')
export class ProviderLoginsController {
  constructor(
    private readonly logins: ProviderLoginsService,
    private readonly finishing: ProviderLoginFinish,
  ) {}

  /**
   * Start a login at a provider
   *
   * @remarks Returns the URL that the program opens in the browser of the user. The login is valid for 10 minutes.
   *
   * The provider sends the browser back to Accounts, which redirects it to `redirectUri` with `code` and `state`, or with
   * `error` and `state`. Without a `redirectUri`, the browser shows the code, if `CROSS_DEVICE_LOGIN` allows it.
   */
  @Post(':name/start')
  @HttpCode(200)
  @Public()
  @ApiProviderName()
  @ApiOkResponse({ type: ProviderLoginStart })
  @ApiProblems(
    invalidFields({ codeChallenge: 'must be 43 base64url characters', codeChallengeMethod: 'must be S256' }),
    'cross_device_login_off',
    'provider_not_found',
    'provider_unavailable',
  )
  startProviderLogin(
    @Param('name', PROVIDER) name: string,
    @Body() body: StartProviderLoginRequest,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<ProviderLoginStart> {
    return this.logins.start(name, body, origin);
  }

  /**
   * Receive the response of a provider
   *
   * @remarks Takes the browser back from the provider, and redirects it to the program with a code. Programs do not call
   * it; operators register it at the provider. It opens no session and creates no user.
   *
   * Limit: 30 failures in 15 minutes from one client IP address, counted with those of `finish`.
   */
  @Get(':name/callback')
  @Public()
  @RateLimited('provider')
  @ApiProviderName()
  @ApiResponse({ status: 303, description: 'The browser continues to the program.' })
  @ApiOkResponse({
    description: 'The code to paste, or a sentence about the failure.',
    content: { 'text/plain': { schema: { type: 'string', minLength: 1, example: A_PAGE } } },
  })
  @ApiProblems('invalid_provider_login', 'uri_too_long')
  async receiveProviderLogin(
    @Param('name', PROVIDER) name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @RequestSignInOrigin() origin: SignInOrigin,
    @LongPoll() longPoll: LongPoll,
  ): Promise<void> {
    const query = new URLSearchParams(request.url.slice(request.url.indexOf('?') + 1));
    try {
      const answer = await longPoll.wait(() => this.logins.receive(name, query, origin));
      if (answer.kind === 'redirect') await reply.redirect(answer.url, 303);
      else await reply.type(TEXT).send(answer.text);
    } catch (error) {
      if (!(error instanceof InvalidProviderLoginError) || !isBrowser(request)) throw error;
      request.problem = error;
      await reply.status(error.status).type(TEXT).send(NOT_VALID);
    }
  }

  /**
   * Finish a login at a provider
   *
   * @remarks Opens a session with the code of the redirect and the verifier of the start. Returns an access token, and a
   * refresh token if `refresh` is true.
   *
   * Only success uses the code. After `link_required`, ask the user for the password once and repeat the request with
   * `password`; after `second_factor_code_required`, repeat it with `secondFactorCode`. The code is then valid for 5
   * minutes from the redirect, and for 10 requests. If the response is lost, start the login again.
   *
   * Limit: 30 wrong codes and passwords in 15 minutes from one client IP address.
   */
  @Post('finish')
  @ApiSignIn(200)
  @HttpCode(200)
  @Public()
  @RateLimited('provider')
  @ApiProblems(
    invalidFields({ code: 'must be a string', codeVerifier: 'must be a string' }),
    'invalid_provider_login',
    'provider_email_refused',
    'registration_closed',
    'identity_taken',
    'link_required',
    'wrong_password',
    'account_disabled',
    'second_factor_code_required',
    'invalid_second_factor_code',
    'second_factor_code_used',
  )
  finishProviderLogin(
    @Body() body: FinishProviderLoginRequest,
    @Client() client: HashClient,
    @RequestSignInOrigin() origin: SignInOrigin,
  ): Promise<LoginResponse> {
    return this.finishing.finish(body, client, origin);
  }
}

const NOT_VALID = 'This login is no longer valid. Start again in your program.\n';
const TEXT = 'text/plain; charset=utf-8';

function isBrowser({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}
