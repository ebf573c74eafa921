export type { Role } from '../api.gen.ts';
export type { Credentials } from '../credentials.ts';
export { createPkce, type Pkce } from '../pkce.ts';
export { unwrap } from '../results.ts';
export { createServiceClient, type ServiceClient, type ServiceClientOptions } from './client.ts';
export type { FeedEvent } from './applied-events.ts';
export type { FeedProblem } from './feed.ts';
export type { GuardLog } from './refusal-log.ts';
export type { AnyUser, ExchangeOptions, FromServices, InOrg, OrKey, StepUp, Wait } from './requirement.ts';
export type { Refusal, RefusalProblem } from './refusal.ts';
export { GuardNotReadyError, type ReadyOptions } from './readiness.ts';
export { TokenRejection } from './tokens.ts';
export type { CallToken } from './call-tokens.ts';
export type { Actor, ApiKey, KeyClaims, ServiceClaims, TokenClaims } from './claims.ts';
export { revisionOf } from './own-revision.ts';
export { createGuard } from './feed-guard.ts';
export type {
  Admission,
  ExchangeAdmission,
  Guard,
  KeyAdmission,
  MemberAdmission,
  MemberKeyAdmission,
  ServiceAdmission,
} from './guard.ts';
export type { GuardOptions } from './guard-options.ts';
