import type { Operations } from './api.gen.ts';
import type { Route } from './operation.ts';
import type { OperationId } from './results.ts';
import type { TokenStore } from './store.ts';

export interface ClientOptions {
  /** such as `https://accounts.example.com`, also with a path */
  baseUrl: string;
  /** where the login is kept */
  store: TokenStore;
  /** takes the place of the global `fetch` */
  fetch?: typeof fetch | undefined;
  /** for a whole call, a refresh and all attempts included; 10 seconds by default */
  timeoutMs?: number | undefined;
  /** further attempts of requests that the OpenAPI document calls safe to repeat, two by default */
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
  /** ends the wait of this call, and never a refresh that other calls share */
  signal?: AbortSignal | undefined;
  /** for this call, a refresh and all attempts included */
  timeoutMs?: number | undefined;
  /** further attempts; 0 means none */
  retries?: number | undefined;
}
interface ByHeader {
  /** for a change that has to be made once, over several calls or starts of the program; otherwise each call has its own */
  'Idempotency-Key': { idempotencyKey?: string | undefined };
  /** `etag` of what the change is based on */
  'If-Match': { ifMatch?: string | undefined };
}
type HeadersOf<Id extends OperationId> = Operations[Id]['headers'];
export type CallOptions<Id extends OperationId = OperationId> = AnyCallOptions &
  ('Idempotency-Key' extends HeadersOf<Id> ? ByHeader['Idempotency-Key'] : unknown) &
  ('If-Match' extends HeadersOf<Id> ? ByHeader['If-Match'] : unknown);

/** Options of any call. */
export type Options = AnyCallOptions & ByHeader['Idempotency-Key'] & ByHeader['If-Match'];

const OF_ANY_CALL = ['signal', 'timeoutMs', 'retries'] satisfies (keyof AnyCallOptions)[];

/** The names of the options that a call of the operation takes. */
export function optionNames({ keyed, conditional }: Route): string[] {
  return [...OF_ANY_CALL, ...(keyed ? ['idempotencyKey'] : []), ...(conditional ? ['ifMatch'] : [])];
}
