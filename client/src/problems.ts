import type { Delay } from './operation.ts';

/** Problem details (RFC 9457) with a code that this version does not know for the operation: treat them by `status`. */
export interface UnknownProblem extends Delay {
  code: 'unknown_code';
  receivedCode: string;
  status: number;
  title: string;
  detail: string;
  requestId: string;
}

/** Nothing was answered: whether the service did what it was asked is open. */
export interface Unreachable {
  code: 'unreachable';
  status: null;
  detail: string;
  cause: unknown;
  retryAfter?: never;
}

/** Nothing was answered in time: whether the service did what it was asked is open. */
export interface TimedOut {
  code: 'timed_out';
  status: null;
  detail: string;
  retryAfter?: never;
}

/** The caller's signal ended the wait. */
export interface Aborted {
  code: 'aborted';
  status: null;
  detail: string;
  retryAfter?: never;
}

/** The answer is not from Accounts: a proxy's page of HTML, say, or a redirect, which is never followed. */
export interface NotJson extends Delay {
  code: 'not_json';
  status: number;
  detail: string;
  /** the beginning of what was answered */
  text: string;
}

/** JSON that this service would not answer. */
export interface InvalidAnswer extends Delay {
  code: 'invalid_answer';
  status: number;
  detail: string;
}

/** A parameter that cannot be part of a path was not sent. */
export interface InvalidParameter {
  code: 'invalid_parameter';
  status: null;
  detail: string;
  parameter: string;
  retryAfter?: never;
}

/** The operation needs a login, and there is none. */
export interface NotLoggedIn {
  code: 'not_logged_in';
  status: null;
  detail: string;
  retryAfter?: never;
}

/** The operation is for services, and the client has no credentials, or could not read the secret. */
export interface NoCredentials {
  code: 'no_credentials';
  status: null;
  detail: string;
  cause?: unknown;
  retryAfter?: never;
}

/** The store could not load, save or lock. */
export interface StoreFailed {
  code: 'store_failed';
  status: null;
  detail: string;
  cause: unknown;
  retryAfter?: never;
}

/** An older instance issued a code that anybody can exchange: it was discarded. */
export interface AudienceIgnored {
  code: 'audience_ignored';
  status: number;
  detail: string;
  retryAfter?: never;
}

type TransportProblem = Unreachable | TimedOut | Aborted | NotJson | InvalidAnswer;

export type ClientProblem =
  | TransportProblem
  | UnknownProblem
  | InvalidParameter
  | NotLoggedIn
  | NoCredentials
  | StoreFailed
  | AudienceIgnored;

export const notLoggedIn: NotLoggedIn = { code: 'not_logged_in', status: null, detail: 'There is no login.' };
export const aborted: Aborted = { code: 'aborted', status: null, detail: 'The caller gave the request up.' };

export function timedOut(timeoutMs: number): TimedOut {
  return { code: 'timed_out', status: null, detail: `Nothing was answered within ${timeoutMs} ms.` };
}

/** What `isLoggedIn` rejects with: any answer would be taken for true or false. */
export class StoreError extends Error {
  readonly code = 'store_failed';

  constructor({ detail, cause }: Pick<StoreFailed, 'detail'> & { cause?: unknown }) {
    super(detail, { cause });
    this.name = 'StoreError';
  }
}

export function storeFailed(cause: unknown): StoreFailed {
  return { code: 'store_failed', status: null, detail: 'The store of the login failed.', cause };
}
