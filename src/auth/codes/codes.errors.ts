import { Problem } from '../../problems/problem.js';

/** Unknown, used, expired or revoked, or a wrong verifier: the client is not told which. */
export class InvalidCodeError extends Problem {
  constructor() {
    super('invalid_code');
  }
}
