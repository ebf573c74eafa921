import { Problem } from '../../problems/problem.js';

export const INVALID_SECOND_FACTOR_CODE =
  'The code is wrong or was used before; send the next one of the app, or a recovery code.';

export const TOO_MANY_WRONG_CODES =
  'Too many wrong codes were sent for this account; wait before the next one, or send a recovery code.';

export class InvalidSecondFactorCodeError extends Problem {
  constructor(userId?: string) {
    super('invalid_code', { detail: INVALID_SECOND_FACTOR_CODE, userId });
  }
}

export class InvalidChallengeError extends Problem {
  constructor(reason: 'forged_or_expired' | 'account_changed', userId?: string) {
    super('invalid_challenge', { headers: { 'WWW-Authenticate': 'Bearer' }, reason, userId });
  }
}
