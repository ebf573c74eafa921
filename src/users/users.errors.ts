import { Problem } from '../problems/problem.js';

export class EmailTakenError extends Problem {
  constructor() {
    super('email_taken');
  }
}
