import { Problem } from '../problems/problem.js';

/** Too many requests (RFC 6585 section 4); after the given whole seconds one is admitted again. */
export class RateLimitedError extends Problem {
  constructor(retryAfterSeconds: number) {
    super('rate_limited', 'Too many attempts for this e-mail; wait before the next one.', {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    });
  }
}
