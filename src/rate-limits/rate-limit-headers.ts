import type { Counter, Quota } from './rate-limit-store.js';

/** Whole seconds that suffice for the wait. */
export const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** The two fields of draft-ietf-httpapi-ratelimit-headers: RFC 9651 lists with one item for each limit. */
export function rateLimitHeaders(
  counters: readonly Counter[],
  quotas: readonly Quota[],
): { 'RateLimit-Policy': string; RateLimit: string } {
  return {
    'RateLimit-Policy': counters
      .map(({ name, limit, windowMs }) => `"${name}";q=${limit};w=${windowMs / 1000}`)
      .join(', '),
    RateLimit: quotas
      .map(({ remaining, resetMs }, i) => `"${counters[i]!.name}";r=${remaining};t=${secondsOf(resetMs)}`)
      .join(', '),
  };
}
