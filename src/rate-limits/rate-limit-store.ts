import type { RateLimit } from '../config/readers.js';

export interface Counter extends RateLimit {
  /** name of the rule: the same name always has the same limit and window */
  name: string;
  key: string;
  /** names what `lift` voids: admissions of this counter until then */
  liftKey?: string;
}

export interface Lift {
  agoMs: number;
  /** the longest window of the counters that have the key */
  windowMs: number;
}

export interface Quota {
  remaining: number;
  /** until the oldest admitted request leaves the window; with nothing remaining, the wait for admission */
  resetMs: number;
}

export interface Admission {
  admitted: boolean;
  quotas: Quota[];
  /** Uncounts the admitted request for some counters, or for each; call it once at most. */
  giveBack: (uncounted?: readonly Counter[]) => Promise<void>;
}

/** Sliding windows: no period of `windowMs`, wherever it starts, admits more than `limit`. */
export interface RateLimitStore {
  /** Counts under all or none: no limit counts what another refused, and a refused retry costs nothing. */
  admit(counters: readonly Counter[]): Promise<Admission>;

  /** Voids what the counters with this key admitted until `agoMs` before now. */
  lift(key: string, lift: Lift): Promise<void>;

  /** true while this instance counts alone although the windows should be shared */
  readonly degraded: boolean;

  close(): void;
}

export const RATE_LIMIT_STORE = Symbol('RateLimitStore');
