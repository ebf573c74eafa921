import type { Failed } from './send-request.ts';
import type { Unreachable } from './problems.ts';

/** If Accounts requires a longer wait, the client returns the problem, and the user decides. */
export const LONGEST_WAIT_MS = 5_000;
const FIRST_WAIT_MS = 200;
/** The client returns `unreachable` to an offline user within this time. */
const REFUSED_WITHIN_MS = 5_000;
/** The codes of Node for a connection that was never established. In a web view, an error has no code. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const NOT_SENT = new Set(['not_logged_in', 'store_failed']);

type FailedProblem = Failed['problem'];

/** A retry may succeed: there was no response, a proxy sent it, or Accounts returned `unavailable`. */
export function isTemporary({ code, status }: FailedProblem): boolean {
  if (code === 'unreachable' || code === 'timed_out' || code === 'unavailable') return true;
  return code === 'not_json' && status !== null && status >= 502 && status <= 504;
}

/** Accounts answered: no proxy and no portal. */
export function isFromAccounts({ code, status }: FailedProblem): boolean {
  return status !== null && code !== 'not_json' && code !== 'invalid_answer';
}

/** Accounts cannot be reached, or does not work. */
export function isOutage(problem: FailedProblem): boolean {
  const { code, status } = problem;
  if (status === null) return code === 'unreachable' || code === 'timed_out';
  return status >= 500 || !isFromAccounts(problem);
}

/** The request was sent, and Accounts may have done what it said. */
export function mayHaveSucceeded({ code, status }: FailedProblem): boolean {
  return status === null ? !NOT_SENT.has(code) : status >= 500;
}

/** The connection was refused or never established, so nothing was sent. */
export function isRefused(problem: FailedProblem): boolean {
  if (problem.code !== 'unreachable') return false;
  for (let cause = (problem as Unreachable).cause; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && NOT_CONNECTED.has(String(cause.code))) return true;
  }
  return false;
}

/** Returns whether a retry that is rejected as slowly would still end in time. */
export function isRefusedInTime(spentMs: number, tookMs: number, waitMs: number): boolean {
  return spentMs + waitMs + tookMs <= REFUSED_WITHIN_MS;
}

export function waitMsAfter({ retryAfter }: FailedProblem, attempt: number): number {
  if (retryAfter !== undefined) return retryAfter * 1000;
  return FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random());
}
