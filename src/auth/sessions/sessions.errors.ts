import { Problem } from '../../problems/problem.js';

export class SessionNotFoundError extends Problem {
  constructor() {
    super('session_not_found');
  }
}
