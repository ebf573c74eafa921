import { Problem } from '../problems/problem.js';

/** One error for an unknown e-mail and a wrong password (OWASP Authentication Cheat Sheet). */
export class InvalidCredentialsError extends Problem {
  constructor() {
    super('invalid_credentials', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
}
