import type { Operations } from './api.gen.ts';
import type { Answered, Data, Failed } from './send-request.ts';
import type { Route } from './operation.ts';
import type { AudienceIgnored, ClientProblem } from './problems.ts';

export type OperationId = keyof Operations;
export type InputOf<Id extends OperationId> = Operations[Id]['input'];
export type DataOf<Id extends OperationId> = Operations[Id]['data'];
/**
 * The problems of an operation, or of all operations, by `code`. `unknown_code` stands for a code that this version does not
 * know.
 */
export type ProblemOf<Id extends OperationId = OperationId> = Operations[Id]['problem'] | ClientProblem;

export interface Success<Body> {
  ok: true;
  status: number;
  data: Body;
  /** The `ETag` of the organization or the profile, for `ifMatch` of a change. */
  etag: string | undefined;
  /**
   * Accounts repeated its response to an earlier request with this idempotency key: a request of your program, or an attempt
   * of the client whose response was lost. The repeated response contains no codes.
   */
  replayed: boolean;
  /** The request was a dry run, so Accounts changed nothing. */
  dryRun: boolean;
  requestId: string | undefined;
}
/** The answer is the last one of this session, because Accounts cannot be reached. Decide nothing by its roles. */
export interface Stale {
  /** When the client got this answer, by the clock of its computer (RFC 3339). */
  at: string;
  /** Why there is no newer answer. */
  problem: ProblemOf<'getMe'>;
}
export type Result<Body, Problem> = Success<Body> | { ok: false; problem: Problem };
export type ResultOf<Id extends OperationId> = Result<DataOf<Id>, ProblemOf<Id>> &
  (Id extends 'getMe' ? { stale?: Stale } : unknown);

/** `ok` if the client removed the login and Accounts revoked its session. */
export type LogOutResult = ResultOf<'logOut'> & {
  /** Accounts revoked the session, even if the store failed. */
  sessionRevoked: boolean;
  /** The client revokes the session later, when Accounts answers again. */
  queued: boolean;
};

/**
 * Returns the data of a successful result.
 *
 * @throws Error with the `detail` of the problem, and the problem as its `cause`
 */
export function unwrap<Body>(result: Result<Body, { code: string; detail: string }>): Body {
  if (result.ok) return result.data;
  throw new Error(result.problem.detail, { cause: result.problem });
}

export type AnyResult = (Success<Data> & { stale?: { at: string; problem: Failed['problem'] } }) | Failed;

/** Reads only the headers that the operation can have, because each one costs a lookup. */
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
  const detail = 'The issued code was not bound to the service, so the client discarded it.';
  const problem: AudienceIgnored = { code: 'audience_ignored', status, detail };
  return { ok: false, problem };
}
