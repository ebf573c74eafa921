import { UserResponse } from '../../users/user.response.js';

export class TokenResponse {
  /**
   * a JWT, to be sent as `Authorization: Bearer <token>`
   * @example "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwMTlhIn0.c2lnbmF0dXJl"
   */
  token: string;
}

export class SignedInResponse extends TokenResponse {
  user: UserResponse;
}

export class CodeResponse {
  /**
   * valid once, for 60 seconds unless configured otherwise
   * @example "3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo"
   */
  code: string;
}
