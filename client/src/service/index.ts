export type { Role } from '../api.gen.ts';
export type { Credentials } from '../credentials.ts';
export { createPkce, type Pkce } from '../pkce.ts';
export { unwrap } from '../results.ts';
export { createServiceClient, type ServiceClient, type ServiceClientOptions } from './client.ts';
export type { FeedEvent } from './applied-events.ts';
export type { FeedProblem } from './feed.ts';
export type { GuardLog } from './refusal-log.ts';
export type { InOrg, Wait } from './requirement.ts';
export type { Refusal, RefusalProblem } from './refusal.ts';
export { type TokenClaims, TokenRejection } from './tokens.ts';
export {
  type Admission,
  createGuard,
  type ExchangeAdmission,
  type MemberAdmission,
  type Guard,
} from './guard.ts';
export type { GuardOptions } from './guard-options.ts';
