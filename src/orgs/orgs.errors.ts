import { Problem } from '../problems/problem.js';

export class TooManyOrgsError extends Problem {
  constructor(max: number) {
    super('too_many_orgs', {
      detail: `You belong to ${max} organizations, the maximum for one user.`,
    });
  }
}
