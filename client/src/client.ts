import { ROUTES } from './api.gen.ts';
import { Calls } from './calls.ts';
import { requireCredentials } from './credentials.ts';
import type { Data } from './exchange.ts';
import { requireKnown } from './known-members.ts';
import { type CallOptions, CLIENT_OPTIONS, type ClientOptions, type Options } from './options.ts';
import { StoreError } from './problems.ts';
import type { InputOf, LogOutResult, OperationId, ResultOf } from './results.ts';

export type Method<Id extends OperationId> =
  Partial<InputOf<Id>> extends InputOf<Id>
    ? (input?: InputOf<Id>, options?: CallOptions<Id>) => Promise<ResultOf<Id>>
    : (input: InputOf<Id>, options?: CallOptions<Id>) => Promise<ResultOf<Id>>;

type Overridden = 'refresh' | 'logOut';
export type Client = { [Id in Exclude<OperationId, Overridden>]: Method<Id> } & {
  /** Gets new tokens now. Every other method does so by itself, when it is time. */
  refresh(options?: CallOptions<'refresh'>): Promise<ResultOf<'refresh'>>;
  /**
   * Forgets the login, even if Accounts cannot be reached, and revokes its session, even if the store fails. With a refresh
   * token it revokes the session of that token, and forgets nothing.
   */
  logOut(input?: InputOf<'logOut'>, options?: CallOptions<'logOut'>): Promise<LogOutResult>;
  /**
   * Whether the store has a login; it may have ended meanwhile.
   *
   * @throws StoreError if the store cannot be read; its `code` is `store_failed`
   */
  isLoggedIn(): Promise<boolean>;
};

/**
 * Methods answer with results. They reject only with a TypeError, for a member of their arguments that the operation does not
 * take.
 *
 * @throws TypeError for an unknown option, for a base URL that is none, and for credentials that no service can have
 */
export function createClient(options: ClientOptions): Client {
  requireKnown('createClient does', options, CLIENT_OPTIONS);
  if (options.credentials) requireCredentials(options.credentials);
  const calls = new Calls(options);
  const methods = Object.keys(ROUTES).map((id) => [
    id,
    (input: Data = {}, more: Options = {}) => calls.call(id as OperationId, input, more),
  ]);
  return {
    ...(Object.fromEntries(methods) as Client),
    refresh: (more = {}) => calls.refresh(more) as Promise<ResultOf<'refresh'>>,
    logOut: (input = {}, more = {}) => calls.logOut({ ...input }, more) as Promise<LogOutResult>,
    isLoggedIn: async () => {
      const isStored = await calls.login.isStored();
      if (typeof isStored === 'object') throw new StoreError(isStored.problem);
      return isStored;
    },
  };
}
