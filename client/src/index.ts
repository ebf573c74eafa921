export type * from './api.gen.ts';
export { type Client, createClient, type Method } from './client.ts';
export type { CallOptions, ClientOptions } from './options.ts';
export { pages } from './pages.ts';
export { createPkce, type Pkce } from './pkce.ts';
export { StoreError } from './problems.ts';
export type {
  Aborted,
  AudienceIgnored,
  ClientProblem,
  InvalidAnswer,
  InvalidParameter,
  NoCredentials,
  NotJson,
  NotLoggedIn,
  StoreFailed,
  TimedOut,
  UnknownProblem,
  Unreachable,
} from './problems.ts';
export type {
  DataOf,
  InputOf,
  LogOutResult,
  OperationId,
  ProblemOf,
  Result,
  ResultOf,
  Stale,
  Success,
} from './results.ts';
export { unwrap } from './results.ts';
export type { SessionChange } from './session-changes.ts';
export { memoryStore, type Slot, type TokenStore } from './store.ts';
