import { Problem } from '../problems/problem.js';

/** RFC 6585 section 4; after the given seconds a request is admitted again. */
export class RateLimitedError extends Problem {
  constructor(
    detail: string,
    retryAfterSeconds: number,
    logged: { limit?: string; userId?: string | undefined } = {},
  ) {
    super('rate_limited', { detail, headers: { 'Retry-After': String(retryAfterSeconds) }, ...logged });
  }
}
