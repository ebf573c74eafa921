import { ApiProperty, ApiResponse, ApiSchema } from '@nestjs/swagger';
import { ApiBase64Url, ApiCount, ApiText, ApiTime } from '../../openapi/decorators.js';
import { SERVICE_NAME } from '../../services/service-secrets.js';
import { UserDto } from '../../users/user.fields.js';
import { A_REFRESH_TOKEN, REFRESH_TOKEN } from './sessions.requests.js';

/** The verifier of RFC 7636, appendix B, and its challenge. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const CODE = '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';

export const LOGOUTS = {
  token: { summary: 'the session of the access token', value: {} },
  refreshToken: { summary: 'the session of a refresh token', value: { refreshToken: A_REFRESH_TOKEN } },
};

export const ISSUES = {
  plain: { summary: 'a code that its holder can exchange', value: {} },
  pkce: {
    summary: 'a code that only the holder of the verifier can exchange (PKCE)',
    value: { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' },
  },
  service: {
    summary: 'a code that only the service billing can exchange, with its verifier',
    value: { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256', audience: 'billing' },
  },
};

export const EXCHANGES = {
  plain: { summary: 'the code alone', value: { code: CODE } },
  pkce: { summary: 'the code with its verifier (PKCE)', value: { code: CODE, codeVerifier: VERIFIER } },
};

export const EXPIRY = '2026-11-22T09:15:00.000Z';

export class TokenResponse {
  /** The access token (JWT). Send it as `Authorization: Bearer <token>`. */
  @ApiProperty({
    pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
    example: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwMTlhIn0.c2lnbmF0dXJl',
  })
  token: string;
}

export class LoginResponse extends TokenResponse {
  user: UserDto;

  /** Time at which the access token expires. Present if the request had `refresh: true`. */
  @ApiTime({ example: EXPIRY }) expiresAt?: string;

  /** The refresh token. Present if the request had `refresh: true`. */
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN }) refreshToken?: string;
}

export const ApiSignIn = (status: number): MethodDecorator => ApiResponse({ status, type: LoginResponse });

export class RefreshResponse extends TokenResponse {
  /** Time at which the access token expires. */
  @ApiTime({ example: EXPIRY }) expiresAt: string;

  /** The new refresh token, which replaces the one in the request. */
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN }) refreshToken: string;
}

export class CodeResponse {
  /** The one-time code, which is valid for 60 seconds (configurable). */
  @ApiBase64Url(43, { example: '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo' }) code: string;

  /** Time at which the code expires. Present if the request had `audience`. */
  @ApiTime({ example: EXPIRY }) expiresAt?: string;

  /** Name of the one service that can exchange the code. Present if the request had `audience`; else discard the code. */
  @ApiProperty({ pattern: SERVICE_NAME.source, example: 'billing' }) audience?: string;
}

@ApiSchema({ name: 'FailedLogins' })
export class FailedLoginsDto {
  /** Number of failed logins. */
  @ApiCount() count: number;

  /** Time of the last failed login. Null if there was none. */
  @ApiTime({ nullable: true }) lastAt: string | null;

  /** The client IP address of the last failed login. Null if there was none, or if it was deleted after 90 days. */
  @ApiText(2, 45, { nullable: true }) lastIp: string | null;
}

@ApiSchema({ name: 'LoginTrace' })
export class LoginTraceDto {
  /** Time of the last login. Null if there was none. */
  @ApiTime({ nullable: true }) lastLoginAt: string | null;

  /** Failed logins since the last login: wrong passwords, wrong codes, and logins while the user was disabled. */
  failedLogins: FailedLoginsDto;
}
