import { Problem } from '../../problems/problem.js';

/** Only logged. `unknown` includes a wrong verifier; `ended` includes ten newer unused codes of the same session. */
export type CodeRefusal = 'malformed' | 'unknown' | 'ended' | 'reused';

/** Message for the field `audience`. */
export const NO_SERVICE = 'must be the name of an enabled service';

export class InvalidCodeError extends Problem {
  constructor(reason: CodeRefusal) {
    super('invalid_code', { reason });
  }
}

/** Only logged. A token is newer than its session if an older state of the database was restored since. */
export type RefreshRefusal = 'forged' | 'session_ended' | 'reused' | 'newer_than_session';

export class InvalidRefreshTokenError extends Problem {
  constructor(reason: RefreshRefusal) {
    super('invalid_refresh_token', { headers: { 'WWW-Authenticate': 'Bearer' }, reason });
  }
}
