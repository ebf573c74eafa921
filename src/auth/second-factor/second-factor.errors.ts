import { Problem } from '../../problems/problem.js';

export const TOO_MANY_WRONG_CODES =
  'Too many wrong codes were sent for this account; wait before the next one, or send a recovery code.';

export class InvalidChallengeError extends Problem {
  constructor(reason: 'forged_or_expired' | 'account_changed', userId?: string) {
    super('invalid_challenge', { headers: { 'WWW-Authenticate': 'Bearer' }, reason, userId });
  }
}
