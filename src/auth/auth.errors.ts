import { Problem } from '../problems/problem.js';

/** One for unknown e-mails and wrong passwords (OWASP Authentication Cheat Sheet). */
export class InvalidCredentialsError extends Problem {
  constructor() {
    super('invalid_credentials', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
}

/** Of somebody who is signed in. */
export class WrongPasswordError extends Problem {
  constructor() {
    super('wrong_password');
  }
}

/** Told to nobody who does not know the password. */
export class AccountDisabledError extends Problem {
  constructor() {
    super('account_disabled');
  }
}
