import { Problem } from '../../problems/problem.js';
import type { IssuedChallenge } from './login-challenges.js';

/** Thrown only after the password was right: nobody else learns that the account has a second factor. */
export class SecondFactorRequiredError extends Problem {
  constructor({ challenge, expiresAt }: IssuedChallenge, userId: string) {
    super('second_factor_required', {
      extensions: { challenge, expiresAt: new Date(expiresAt).toISOString() },
      userId,
    });
  }
}

/** Only logged. */
export type ChallengeRefusal = 'forged_or_expired' | 'account_changed';

export class InvalidChallengeError extends Problem {
  constructor(reason: ChallengeRefusal, userId?: string) {
    super('invalid_challenge', { headers: { 'WWW-Authenticate': 'Bearer' }, reason, userId });
  }
}
