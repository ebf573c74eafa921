import type { ProblemCode } from '../../problems/problem-codes.js';

class Signal<T> {
  private listener: ((value: T) => void) | undefined;

  get isHeard(): boolean {
    return this.listener !== undefined;
  }

  listen(listener: (value: T) => void): void {
    this.listener = listener;
  }

  emit(value: T): void {
    try {
      this.listener?.(value);
    } catch {
      // A failure of a metric must not change an answer.
    }
  }
}

class Reading<T> {
  constructor(public read: () => T) {}
}

export interface RequestOutcome {
  method: string;
  route: string | undefined;
  status: number;
  code: ProblemCode | undefined;
  seconds: number;
}

export const requestEnded = new Signal<RequestOutcome>();

export const rateLimitDecided = new Signal<{ limit: string; decision: 'admitted' | 'refused' }>();

/** a request with the headers of a proxy that is not in TRUST_PROXY */
export const untrustedProxySeen = new Signal<void>();

export const LOGIN_FAILURES = [
  'unknown_email',
  'wrong_password',
  'account_disabled',
  'wrong_second_factor_code',
  'provider_required',
] as const;

export type LoginFailure = (typeof LOGIN_FAILURES)[number];

export const loginFailed = new Signal<{ reason: LoginFailure }>();

/** `provider` is the name of an existing one: clients choose what other names they send */
export const providerLoginEnded = new Signal<{
  provider: string;
  outcome: 'success' | 'provider_denied' | ProblemCode;
}>();

export const REFRESH_OUTCOMES = [
  'rotated',
  'repeated',
  'reissued',
  'reused',
  'newer',
  'ended',
  'forged',
] as const;

export type RefreshOutcome = (typeof REFRESH_OUTCOMES)[number];

export const refreshed = new Signal<{ outcome: RefreshOutcome }>();

export const conflictRetried = new Signal<void>();

export const passwordHashes = new Reading(() => ({ running: 0, waiting: 0 }));

/** `poolSize` is the most that may be open; SQLite has no pool */
export const databaseConnections = new Reading((): { idle: number; inUse: number; poolSize?: number } => ({
  idle: 0,
  inUse: 0,
}));

export const feedState = new Reading(() => ({ lagSeconds: 0, waiters: 0 }));

export const mailCounts = new Reading((): Record<string, number> => ({}));

/** parts of GET /health/ready */
export const readyParts = new Reading((): Record<string, boolean> => ({}));

/** undefined on SQLite */
export const clockOffset = new Reading((): number | undefined => undefined);

/** undefined in all instances but one */
export const userCount = new Reading((): number | undefined => undefined);

/** in seconds */
export const signingKeyAge = new Reading((): number | undefined => undefined);
