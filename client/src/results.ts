import type { Operations } from './api.gen.ts';
import type { Answered, Data, Failed } from './send-request.ts';
import type { Route } from './operation.ts';
import type { AudienceIgnored, ClientProblem } from './problems.ts';

export type OperationId = keyof Operations;
export type InputOf<Id extends OperationId> = Operations[Id]['input'];
export type DataOf<Id extends OperationId> = Operations[Id]['data'];
/** `code` tells the cases apart; `unknown_code` is one that this version does not know. Without an operation: of any. */
export type ProblemOf<Id extends OperationId = OperationId> = Operations[Id]['problem'] | ClientProblem;

export interface Success<Body> {
  ok: true;
  status: number;
  data: Body;
  /** of the organization or the profile, where the answer has one: `ifMatch` of a change */
  etag: string | undefined;
  /**
   * An earlier request with the same idempotency key had been answered so: one of your program, or an attempt of the client
   * whose answer was lost. Codes are not returned again.
   */
  replayed: boolean;
  /** Nothing was changed. */
  dryRun: boolean;
  requestId: string | undefined;
}
export type Result<Body, Problem> = Success<Body> | { ok: false; problem: Problem };
export type ResultOf<Id extends OperationId> = Result<DataOf<Id>, ProblemOf<Id>>;

/** `ok` if this client has forgotten the login and Accounts has revoked its session. */
export type LogOutResult = ResultOf<'logOut'> & {
  /** Accounts has revoked the session, even if the store failed. */
  sessionRevoked: boolean;
};

/**
 * Returns what an operation answered.
 *
 * @throws Error with the `detail` of the problem, and the problem as its `cause`
 */
export function unwrap<Body>(result: Result<Body, { code: string; detail: string }>): Body {
  if (result.ok) return result.data;
  throw new Error(result.problem.detail, { cause: result.problem });
}

export type AnyResult = Success<Data> | Failed;

/** Each header costs a lookup, so that only those are read which the operation can have. */
export function succeeded({ status, data, headers }: Answered, { keyed, query }: Route): Success<Data> {
  return {
    ok: true,
    status,
    data,
    etag: headers.get('etag') ?? undefined,
    replayed: keyed === true && headers.get('idempotency-replayed') === 'true',
    dryRun: query?.includes('dryRun') === true && headers.get('dry-run') === 'true',
    requestId: headers.get('x-request-id') ?? undefined,
  };
}

export function audienceIgnored(status: number): Failed {
  const detail = 'The code that was issued is not for that service alone: it was discarded.';
  const problem: AudienceIgnored = { code: 'audience_ignored', status, detail };
  return { ok: false, problem };
}
