import { Problem } from '../problems/problem.js';

export class OperatorProtectedError extends Problem {
  constructor() {
    super('operator_protected');
  }
}

export class EmailTakenError extends Problem {
  constructor() {
    super('email_taken');
  }
}
