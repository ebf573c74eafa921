import { ApiProperty } from '@nestjs/swagger';
import { ApiBase64Url } from '../../openapi/api-base64url.decorator.js';
import { UserResponse } from '../../users/user.response.js';

export class TokenResult {
  /**
   * a JWT, to be sent as `Authorization: Bearer <token>`
   * @example "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwMTlhIn0.c2lnbmF0dXJl"
   */
  @ApiProperty({ pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$' })
  token: string;
}

export class SignInResult extends TokenResult {
  user: UserResponse;
}

export class CodeResult {
  /**
   * valid once, for 60 seconds unless configured otherwise
   * @example "3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo"
   */
  @ApiBase64Url(43)
  code: string;
}
