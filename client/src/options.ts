import type { Operations } from './api.gen.ts';
import type { Route } from './operation.ts';
import type { OperationId } from './results.ts';
import type { TokenStore } from './store.ts';

export interface ClientOptions {
  /** The URL of Accounts, such as `https://accounts.example.com`. It may have a path. */
  baseUrl: string;
  /** Keeps the login. */
  store: TokenStore;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Time limit of a whole call, including a refresh and all attempts: 10 seconds by default. */
  timeoutMs?: number | undefined;
  /** Retries of requests that are safe to repeat: two by default. */
  retries?: number | undefined;
}
export const CLIENT_OPTIONS: readonly string[] = [
  'baseUrl',
  'store',
  'fetch',
  'timeoutMs',
  'retries',
] satisfies (keyof ClientOptions)[];

interface AnyCallOptions {
  /** Ends this call. A refresh that other calls share continues. */
  signal?: AbortSignal | undefined;
  /** Time limit of this call, including a refresh and all attempts. */
  timeoutMs?: number | undefined;
  /** Retries of this call; 0 turns them off. */
  retries?: number | undefined;
}
interface ByHeader {
  /** Makes a change once over several calls or starts of the program. By default each call has a key of its own. */
  'Idempotency-Key': { idempotencyKey?: string | undefined };
  /** The `etag` of the state that the change is based on. */
  'If-Match': { ifMatch?: string | undefined };
}
interface OrStale {
  /**
   * If Accounts cannot be reached, or does not work, returns the last answer of this session that had all of `include`, with
   * `stale`.
   */
  orStale?: boolean | undefined;
}
type HeadersOf<Id extends OperationId> = Operations[Id]['headers'];
export type CallOptions<Id extends OperationId = OperationId> = AnyCallOptions &
  ('Idempotency-Key' extends HeadersOf<Id> ? ByHeader['Idempotency-Key'] : unknown) &
  ('If-Match' extends HeadersOf<Id> ? ByHeader['If-Match'] : unknown) &
  ('getMe' extends Id ? OrStale : unknown);

/** The options of all calls. */
export type Options = AnyCallOptions & ByHeader['Idempotency-Key'] & ByHeader['If-Match'] & OrStale;

const OF_ANY_CALL = ['signal', 'timeoutMs', 'retries'] satisfies (keyof AnyCallOptions)[];

/** The names of the options that a call of the operation accepts. */
export function optionNames(id: OperationId, { keyed, conditional }: Route): string[] {
  return [
    ...OF_ANY_CALL,
    ...(keyed ? ['idempotencyKey'] : []),
    ...(conditional ? ['ifMatch'] : []),
    ...(id === 'getMe' ? ['orStale'] : []),
  ];
}
