import type { RateLimit } from '../config/env.js';

export interface Admission {
  admitted: boolean;
  /** how many more requests would be admitted right now */
  remaining: number;
  /**
   * milliseconds until the oldest admitted request leaves the window, that is, until there is more quota;
   * after a refusal, the wait after which a request is admitted
   */
  resetMs: number;
}

/** Counts requests in sliding windows: no window of `rule.windowMs`, wherever it starts, admits more than `rule.limit`. */
export interface RateLimitStore {
  /**
   * Admits and records one request, or refuses it and records nothing, so that asking again while
   * refused does not prolong the wait.
   *
   * @param key from `rateLimitKey`; a key always comes with the same rule
   */
  admit(key: string, rule: RateLimit): Promise<Admission>;

  /** true while requests are counted by this instance alone although the windows should be shared */
  readonly degraded: boolean;

  close(): void;
}

/** Injection token of the {@link RateLimitStore} in use. */
export const RATE_LIMIT_STORE = Symbol('RateLimitStore');
