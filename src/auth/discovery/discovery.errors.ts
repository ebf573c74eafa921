import { Problem } from '../../problems/problem.js';

export const NOT_DISCOVERABLE = 'The issuer of this service is not a URL.';

export class IssuerNotDiscoverableError extends Problem {
  constructor() {
    super('not_found', { detail: NOT_DISCOVERABLE });
  }
}
