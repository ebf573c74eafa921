import type { Counter, Quota } from './rate-limit-store.js';

/** Rounds up, so that the wait suffices. */
export const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Follows draft-ietf-httpapi-ratelimit-headers: two RFC 9651 lists with an item for each limit. */
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
