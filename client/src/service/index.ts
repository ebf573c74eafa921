export type { Role } from '../api.gen.ts';
export type { Credentials } from '../credentials.ts';
export { createPkce, type Pkce } from '../pkce.ts';
export type { FeedEvent } from './applied-events.ts';
export type { FeedProblem } from './feed.ts';
export type { GuardLog } from './refusal-log.ts';
export type { InOrg, Wait } from './requirement.ts';
export type { Refusal, RefusalProblem } from './refusal.ts';
export { type TokenClaims, TokenRejection } from './tokens.ts';
export {
  type Admission,
  createVerifier,
  type ExchangeAdmission,
  type MemberAdmission,
  type Verifier,
} from './verifier.ts';
export type { VerifierOptions } from './verifier-options.ts';
