import { type AdminOperationId, type Operations, ROUTES, type ServiceOperationId } from './api.gen.ts';
import { Calls } from './calls.ts';
import type { Data } from './send-request.ts';
import { requireKnown } from './known-members.ts';
import { type CallOptions, CLIENT_OPTIONS, type ClientOptions, type Options } from './options.ts';
import { StoreError } from './problems.ts';
import type { InputOf, LogOutResult, OperationId, ResultOf } from './results.ts';
import type { SessionChange } from './session-changes.ts';
import { requireStore } from './store.ts';

export type Method<Id extends OperationId> =
  Partial<InputOf<Id>> extends InputOf<Id>
    ? (input?: InputOf<Id>, options?: CallOptions<Id>) => Promise<ResultOf<Id>>
    : (input: InputOf<Id>, options?: CallOptions<Id>) => Promise<ResultOf<Id>>;
/** Mapped from `Operations`, so that an editor shows the documentation of each operation. */
export type Methods<Ids extends OperationId> = {
  [Id in keyof Operations as Extract<Id, Ids>]: Method<Id>;
};

export interface LoginMethods {
  /** Renews the tokens now. Every other method renews them when they are about to expire. */
  refresh(options?: CallOptions<'refresh'>): Promise<ResultOf<'refresh'>>;
  /**
   * Deletes the login from the store, even if Accounts cannot be reached, and revokes its session, even if the store fails.
   * If Accounts does not answer, the client queues the logout and revokes the session later.
   * With `refreshToken`, revokes the session of that token instead, and leaves the store unchanged.
   */
  logOut(input?: InputOf<'logOut'>, options?: CallOptions<'logOut'>): Promise<LogOutResult>;
  /**
   * Returns whether the store has a login. Its session may have ended meanwhile.
   *
   * @throws StoreError if the store cannot be read; its `code` is `store_failed`
   */
  isLoggedIn(): Promise<boolean>;
}

export type Client = Methods<
  Exclude<OperationId, AdminOperationId | ServiceOperationId | 'refresh' | 'logOut'>
> &
  LoginMethods & {
    /**
     * Calls the listener after each login and logout in this process. A listener that throws changes no result.
     *
     * @returns a function that removes the listener
     * @throws TypeError for a listener that is not a function
     */
    onSessionChange(listener: (change: SessionChange) => unknown): () => void;
  };

/**
 * Creates a client whose methods return results. A method rejects only with a TypeError, for an argument that the operation
 * does not accept, and for a missing id of the path.
 *
 * @throws TypeError for an unknown option, an invalid base URL, and a missing store
 */
export function createClient(options: ClientOptions): Client {
  requireKnown('createClient does', options, CLIENT_OPTIONS);
  requireStore(options.store);
  const calls = new Calls(options);
  const ids = idsOf(undefined);
  return {
    ...(methodsOf(calls, ids) as Client),
    ...loginMethodsOf(calls),
    onSessionChange: (listener) => calls.login.changes.listen(listener),
  };
}

export function idsOf(callers: 'admin' | 'service' | undefined): OperationId[] {
  return (Object.keys(ROUTES) as OperationId[]).filter((id) => ROUTES[id].callers === callers);
}

export function methodsOf(calls: Calls, ids: readonly OperationId[]): object {
  return Object.fromEntries(
    ids.map((id) => [id, (input: Data = {}, more: Options = {}) => calls.call(id, input, more)]),
  );
}

export function loginMethodsOf(calls: Calls): LoginMethods {
  return {
    refresh: (more = {}) => calls.refresh(more) as Promise<ResultOf<'refresh'>>,
    logOut: (input = {}, more = {}) => calls.logOut({ ...input }, more) as Promise<LogOutResult>,
    isLoggedIn: async () => {
      const isStored = await calls.login.isStored();
      if (typeof isStored === 'object') throw new StoreError(isStored.problem);
      return isStored;
    },
  };
}
