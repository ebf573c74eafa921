import type { NamedRateLimit } from './rate-limit-rules.js';

/**
 * The two fields of draft-ietf-httpapi-ratelimit-headers, as RFC 9651 lists with one item.
 *
 * @param resetSeconds until there is more quota, rounded up
 */
export function rateLimitHeaders(
  { name, limit, windowMs }: NamedRateLimit,
  remaining: number,
  resetSeconds: number,
): Record<string, string> {
  return {
    'RateLimit-Policy': `"${name}";q=${limit};w=${windowMs / 1000}`,
    RateLimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  };
}
