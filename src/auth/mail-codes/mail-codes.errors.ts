import { Problem } from '../../problems/problem.js';

export const INVALID_MAIL_CODE = 'The code is wrong, used or expired; ask for a new one.';

export class InvalidMailCodeError extends Problem {
  constructor() {
    super('invalid_code', { detail: INVALID_MAIL_CODE });
  }
}
