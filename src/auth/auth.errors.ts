import { Problem } from '../problems/problem.js';

/** Unknown emails and wrong passwords get the same error (OWASP Authentication Cheat Sheet). */
export class InvalidCredentialsError extends Problem {
  /** @param userId the user of the email, only for the log */
  constructor(userId?: string) {
    super('invalid_credentials', { headers: { 'WWW-Authenticate': 'Bearer' }, userId });
  }
}

/** Thrown only after the password was right: a stranger must not learn that the account is disabled. */
export class AccountDisabledError extends Problem {
  constructor(userId: string) {
    super('account_disabled', { userId });
  }
}
