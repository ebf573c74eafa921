export type * from './api.gen.ts';
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Credentials,
  type DataOf,
  type InputOf,
  type Method,
  type OperationId,
  type ProblemOf,
  type Result,
  type ResultOf,
  type Success,
} from './client.ts';
export { pages } from './pages.ts';
export { createPkce, type Pkce } from './pkce.ts';
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
export { memoryStore, type TokenStore } from './store.ts';
