import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { Public, SignedIn } from '../access/access.decorators.js';
import { CurrentUser } from '../access/current-user.decorator.js';
import { ApiProblems } from '../openapi/api-problems.decorator.js';
import { RateLimited } from '../rate-limits/rate-limited.decorator.js';
import { AuthService } from './auth.service.js';
import { CodesService } from './codes/codes.service.js';
import { CodeResponse, SignedInResponse, TokenResponse } from './dto/auth.responses.js';
import { ExchangeCodeDto } from './dto/exchange-code.dto.js';
import { IssueCodeDto } from './dto/issue-code.dto.js';
import { LoginDto } from './dto/login.dto.js';
import { RegisterDto } from './dto/register.dto.js';
import { Client } from './passwords/client.decorator.js';
import type { HashClient } from './passwords/hash-queue.js';

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
   * @remarks At most 5 requests in any hour for one client address and e-mail.
   */
  @Post('register')
  @Public()
  @RateLimited('register', 'address')
  @ApiProblems('validation_failed', 'malformed_json', 'email_taken', 'rate_limited')
  register(@Body() dto: RegisterDto, @Client() client: HashClient): Promise<SignedInResponse> {
    return this.auth.register(dto.email, dto.password, client);
  }

  /**
   * Log in
   *
   * @remarks At most 10 requests in any 15 minutes for one client address and e-mail. An unknown e-mail and a
   * wrong password are answered alike.
   */
  @Post('login')
  @HttpCode(200)
  @Public()
  @RateLimited('login', 'address')
  @ApiProblems('validation_failed', 'malformed_json', 'invalid_credentials', 'rate_limited')
  login(@Body() dto: LoginDto, @Client() client: HashClient): Promise<SignedInResponse> {
    return this.auth.login(dto.email, dto.password, client);
  }

  /**
   * Issue a one-time code
   *
   * @remarks Hand the code, never the token, to the service that shall act for the user. With a
   * `codeChallenge` (RFC 7636) only the holder of the verifier can exchange it.
   */
  @Post('code')
  @SignedIn()
  @ApiBody({ type: IssueCodeDto, required: false })
  @ApiProblems('validation_failed', 'malformed_json', 'unauthorized', 'invalid_token')
  async issueCode(@CurrentUser() caller: CurrentUser, @Body() dto: IssueCodeDto): Promise<CodeResponse> {
    return { code: await this.codes.issue(caller.sessionId, dto.codeChallenge) };
  }

  /**
   * Exchange a one-time code for a token
   *
   * @remarks Works once for each code. A second exchange also revokes the token of the first, and every
   * token that was derived from it.
   */
  @Post('code/exchange')
  @HttpCode(200)
  @Public()
  @ApiProblems('validation_failed', 'malformed_json', 'invalid_code')
  exchangeCode(@Body() dto: ExchangeCodeDto): Promise<TokenResponse> {
    return this.auth.exchangeCode(dto.code, dto.codeVerifier);
  }
}
