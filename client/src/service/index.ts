export type { Role } from '../api.gen.ts';
export type { Credentials } from '../credentials.ts';
export { createPkce, type Pkce } from '../pkce.ts';
export type { FeedEvent } from './applied-events.ts';
export type { FeedProblem } from './feed.ts';
export type { InOrg, Wait } from './requirement.ts';
export type { Refusal, RefusalProblem } from './refusal.ts';
export type { TokenClaims } from './tokens.ts';
export {
  type Admission,
  createVerifier,
  type ExchangeAdmission,
  type MemberAdmission,
  type Verifier,
  type VerifierOptions,
} from './verifier.ts';
