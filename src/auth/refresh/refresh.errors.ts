import { Problem } from '../../problems/problem.js';

/** Only logged. A token is newer than its session if an older state of the database was restored since. */
export type RefreshRefusal = 'forged' | 'session_ended' | 'reused' | 'newer_than_session';

export class InvalidRefreshTokenError extends Problem {
  constructor(reason: RefreshRefusal) {
    super('invalid_refresh_token', { headers: { 'WWW-Authenticate': 'Bearer' }, reason });
  }
}
