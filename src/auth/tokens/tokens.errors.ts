import { Problem } from '../../problems/problem.js';

/** RFC 6750 section 3.1: a request without a token gets no error code. */
export class UnauthorizedError extends Problem {
  constructor() {
    super('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
}

/** Only logged: the client learns that its token is not valid. */
export type TokenRefusal =
  | 'malformed'
  | 'signature'
  | 'unknown_key'
  | 'expired'
  | 'claims'
  | 'session_ended'
  | 'user_gone';

export class InvalidTokenError extends Problem {
  constructor(reason: TokenRefusal) {
    super('invalid_token', {
      reason,
      headers: {
        'WWW-Authenticate': 'Bearer error="invalid_token", error_description="The access token is not valid"',
      },
    });
  }
}
