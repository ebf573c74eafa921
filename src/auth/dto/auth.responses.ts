import { ApiProperty } from '@nestjs/swagger';
import { ApiBase64Url } from '../../openapi/decorators.js';
import { SERVICE_NAME } from '../../services/service-name.js';
import { UserResponse } from '../../users/user.response.js';
import { A_REFRESH_TOKEN, REFRESH_TOKEN } from './refresh.request.js';

const EXPIRY = '2026-11-22T09:15:00.000Z';

export class TokenResult {
  /**
   * access token (JWT), sent as `Authorization: Bearer <token>`
   * @example "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwMTlhIn0.c2lnbmF0dXJl"
   */
  @ApiProperty({ pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$' })
  token: string;
}

export class SignIn extends TokenResult {
  user: UserResponse;
}

/** Answers a request with `refresh`. */
export class RefreshableSignIn extends SignIn {
  /** time at which the token expires */
  @ApiProperty({ format: 'date-time', example: EXPIRY })
  expiresAt: string;

  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN })
  refreshToken: string;
}

export type SignInResult = SignIn | RefreshableSignIn;

export class RefreshResult extends TokenResult {
  /** time at which the token expires */
  @ApiProperty({ format: 'date-time', example: EXPIRY })
  expiresAt: string;

  /** replaces the refresh token that was sent */
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN })
  refreshToken: string;
}

export class CodeResult {
  /**
   * one-time code, valid for 60 seconds unless configured otherwise
   * @example "3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo"
   */
  @ApiBase64Url(43)
  code: string;
}

/** Answers a request with `audience`. An answer without it comes from an older instance: discard the code. */
export class BoundCodeResult extends CodeResult {
  /** time at which the code expires */
  @ApiProperty({ format: 'date-time', example: EXPIRY })
  expiresAt: string;

  /**
   * name of the one service that can exchange the code
   * @example "billing"
   */
  @ApiProperty({ pattern: SERVICE_NAME.source })
  audience: string;
}
