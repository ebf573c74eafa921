import { Problem } from '../../problems/problem.js';

/** For the log only. A token newer than its session comes from a database that was restored since. */
export type RefreshRefusal = 'forged' | 'session_ended' | 'reused' | 'newer_than_session';

/** The client is not told why. */
export class InvalidRefreshTokenError extends Problem {
  constructor(reason: RefreshRefusal) {
    super('invalid_refresh_token', { headers: { 'WWW-Authenticate': 'Bearer' }, reason });
  }
}
