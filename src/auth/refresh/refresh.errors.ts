import { Problem } from '../../problems/problem.js';

/** Forged, used, expired, or of a session that has ended: the client is not told which. */
export class InvalidRefreshTokenError extends Problem {
  constructor() {
    super('invalid_refresh_token', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
}
