import { Problem } from '../problems/problem.js';

/** Unknown e-mails and wrong passwords get the same error (OWASP Authentication Cheat Sheet). */
export class InvalidCredentialsError extends Problem {
  constructor() {
    super('invalid_credentials', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
}

export class WrongPasswordError extends Problem {
  constructor() {
    super('wrong_password');
  }
}

/** Thrown only after the password was right: a stranger must not learn that the account is disabled. */
export class AccountDisabledError extends Problem {
  constructor() {
    super('account_disabled');
  }
}
