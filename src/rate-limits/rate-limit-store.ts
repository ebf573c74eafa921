import type { RateLimit } from '../config/env.js';

/** A rule and one of those whom it counts. */
export interface Counter extends RateLimit {
  /** of the rule: the same name always comes with the same limit and window */
  name: string;
  /** from `rateLimitKey` */
  key: string;
}

export interface Quota {
  /** how many more requests would be admitted right now */
  remaining: number;
  /**
   * milliseconds until the oldest admitted request leaves the window, that is, until there is more quota; with
   * nothing remaining, the wait after which a request is admitted
   */
  resetMs: number;
}

export interface Admission {
  admitted: boolean;
  /** what is left of each counter, in their order */
  quotas: Quota[];
  /** Uncounts a request that was admitted, for each counter; to be called once at most. */
  giveBack: () => Promise<void>;
}

/** Counts requests in sliding windows: no window of `windowMs`, wherever it starts, admits more than `limit`. */
export interface RateLimitStore {
  /**
   * Admits a request and records it under every counter, or refuses it and records nothing, so that one limit
   * never counts what another refused, and that asking again while refused does not prolong the wait.
   */
  admit(counters: readonly Counter[]): Promise<Admission>;

  /** true while requests are counted by this instance alone although the windows should be shared */
  readonly degraded: boolean;

  close(): void;
}

/** Injection token of the {@link RateLimitStore} in use. */
export const RATE_LIMIT_STORE = Symbol('RateLimitStore');
