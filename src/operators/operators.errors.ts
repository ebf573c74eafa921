import { Problem } from '../problems/problem.js';

export class NoSuchUserError extends Problem {
  constructor() {
    super('user_not_found', { detail: NO_SUCH_USER });
  }
}

export class NoSuchServiceError extends Problem {
  constructor() {
    super('service_not_found');
  }
}

export const NO_SUCH_USER = 'No user has this id.';
