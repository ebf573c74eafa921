import type { Delay } from './operation.ts';

/** Problem details (RFC 9457) with a code that this version does not know for the operation. Handle it by `status`. */
export interface UnknownProblem extends Delay {
  code: 'unknown_code';
  receivedCode: string;
  status: number;
  title: string;
  detail: string;
  requestId: string;
}

/** Accounts sent no response. It may have done what the request said. */
export interface Unreachable {
  code: 'unreachable';
  status: null;
  detail: string;
  cause: unknown;
  retryAfter?: never;
}

/** Accounts sent no response in time. It may have done what the request said. */
export interface TimedOut {
  code: 'timed_out';
  status: null;
  detail: string;
  retryAfter?: never;
}

/** The caller's signal ended the call. */
export interface Aborted {
  code: 'aborted';
  status: null;
  detail: string;
  retryAfter?: never;
}

/** The response is not from Accounts, for example a proxy's HTML page or a redirect, which the client does not follow. */
export interface NotJson extends Delay {
  code: 'not_json';
  status: number;
  detail: string;
  /** The beginning of the response. */
  text: string;
}

/** The response is JSON in a format that Accounts does not have. */
export interface InvalidAnswer extends Delay {
  code: 'invalid_answer';
  status: number;
  detail: string;
}

/** A parameter cannot be part of a path. The client sent nothing. */
export interface InvalidParameter {
  code: 'invalid_parameter';
  status: null;
  detail: string;
  parameter: string;
  retryAfter?: never;
}

/** The operation needs a login, and the store has none. */
export interface NotLoggedIn {
  code: 'not_logged_in';
  status: null;
  detail: string;
  retryAfter?: never;
}

/** The operation needs the credentials of a service, and the client has none or could not read the secret. */
export interface NoCredentials {
  code: 'no_credentials';
  status: null;
  detail: string;
  cause?: unknown;
  retryAfter?: never;
}

/** The token store could not load, save or lock. */
export interface StoreFailed {
  code: 'store_failed';
  status: null;
  detail: string;
  cause: unknown;
  retryAfter?: never;
}

/** An instance of an older version issued a code that any service can exchange. The client discarded the code. */
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

export const notLoggedIn: NotLoggedIn = {
  code: 'not_logged_in',
  status: null,
  detail: 'The user is not logged in.',
};
export const aborted: Aborted = { code: 'aborted', status: null, detail: 'The caller aborted the call.' };

export function timedOut(timeoutMs: number): TimedOut {
  return { code: 'timed_out', status: null, detail: `Accounts did not respond within ${timeoutMs} ms.` };
}

/** `isLoggedIn` rejects with it, because a caller would treat a returned problem as true. */
export class StoreError extends Error {
  readonly code = 'store_failed';

  constructor({ detail, cause }: Pick<StoreFailed, 'detail'> & { cause?: unknown }) {
    super(detail, { cause });
    this.name = 'StoreError';
  }
}

export function storeFailed(cause: unknown): StoreFailed {
  return { code: 'store_failed', status: null, detail: 'The token store failed.', cause };
}
