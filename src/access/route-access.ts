import { Reflector } from '@nestjs/core';
import { Problem } from '../problems/problem.js';
import type { Env } from '../config/env.js';
import { type Principal, type Role, type ServiceScope, userOf, type UserPrincipal } from './principal.js';

export const RECENT_LOGIN = 'This operation requires a recent login. Log in again.';

export const UNVERIFIED =
  'Verify your email first. POST /api/me/email/verification sends a code for POST /api/me/email/verify.';

export const BOUND_TOKEN = 'An access token for one service is not accepted here.';

/** RFC 6749 section 5.2, with the challenge that RFC 7617 section 2 requires. */
export function invalidClient(): Problem {
  const headers = { 'WWW-Authenticate': 'Basic realm="services", charset="UTF-8"' };
  return new Problem('invalid_client', { headers });
}

/** RFC 6750 section 3.1 */
export function boundToken(): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' };
  return new Problem('insufficient_scope', { detail: BOUND_TOKEN, headers });
}

/** RFC 9470 section 3 */
function loginNeeded({ secondFactor, maxAge }: NonNullable<Assurance['login']>): Problem {
  const challenge = `Bearer error="insufficient_user_authentication", max_age=${maxAge}`;
  return new Problem('insufficient_user_authentication', {
    ...(!secondFactor && { detail: RECENT_LOGIN }),
    headers: { 'WWW-Authenticate': challenge },
  });
}

/** Every assurance includes a direct session: one that a login opened, not a one-time code. */
export interface Assurance {
  /** Another login can meet these demands (RFC 9470). */
  login?: { secondFactor: boolean; maxAge: number };
}

type SessionAssurance = Pick<UserPrincipal, 'isDelegated'> & Partial<Pick<UserPrincipal, 'amr' | 'authTime'>>;

export const DIRECT_SESSION: Assurance = {};

type DeclaredAssurance = (env: Env) => Assurance;

export const directSession: DeclaredAssurance = () => DIRECT_SESSION;

export const operatorsAssurance: DeclaredAssurance = ({ operatorsSecondFactor, operatorsLoginAge }) => ({
  login: { secondFactor: operatorsSecondFactor === 'required', maxAge: operatorsLoginAge },
});

/** A stolen session must not give a key that outlives it. */
export const apiKeysAssurance: DeclaredAssurance = ({ apiKeyLoginAge }) => ({
  login: { secondFactor: false, maxAge: apiKeyLoginAge },
});

export function requireAssurance(
  { isDelegated, amr = [], authTime = 0 }: SessionAssurance,
  assurance: Assurance | undefined,
): void {
  if (!assurance) return;
  const { login } = assurance;
  // A delegated session inherits `amr` and `authTime`, but also needs another login.
  const isMet =
    !isDelegated &&
    (!login?.secondFactor || amr.includes('otp')) &&
    (!login || Date.now() - authTime <= login.maxAge * 1000);
  if (login && !isMet) throw loginNeeded(login);
  if (isDelegated) throw new Problem('direct_session_required');
}

/** seconds */
const PROVIDER_LOGIN_AGE = 600;

/** Stands for the password of a user who has none. */
export function requireProviderLogin(session: SessionAssurance): void {
  const login = { secondFactor: false, maxAge: PROVIDER_LOGIN_AGE };
  if (!session.amr?.includes('fed')) throw loginNeeded(login);
  requireAssurance(session, { login });
}

/** `boundTokens` also admits tokens of a code for one service. */
export interface ForBoundTokens {
  boundTokens?: true;
}

/** `unverified` also admits users who must verify their email first (EMAIL_VERIFICATION). */
export interface ForUnverified {
  unverified?: true;
}

export const CALLER_KINDS = ['clients', 'services', 'operators'] as const;

export type CallerKind = (typeof CALLER_KINDS)[number];

/** Every route declares exactly one. Accounts rejects requests to a route that declares none. */
export type Access =
  | { to: 'everyone'; or?: 'service'; usedBy?: readonly CallerKind[] }
  | ({ to: 'signed-in'; assurance?: DeclaredAssurance; or?: 'refresh-token' } & ForBoundTokens &
      ForUnverified)
  | ({ to: 'members'; minRole: Role; assurance?: DeclaredAssurance; evenSuspended?: true } & ForBoundTokens)
  | { to: 'services'; scope?: ServiceScope }
  | { to: 'operators'; assurance: DeclaredAssurance };

export const RouteAccess = Reflector.createDecorator<Access>();

export function takesBoundTokens(access: Access | undefined): boolean {
  return (access?.to === 'signed-in' || access?.to === 'members') && access.boundTokens === true;
}

export function admitsUnverified(access: Access): boolean {
  return access.to === 'signed-in' && access.unverified === true;
}

export function mustVerifyEmail(
  { emailVerified }: Pick<UserPrincipal, 'emailVerified'>,
  { emailVerification }: Env,
): boolean {
  return emailVerification === 'required' && !emailVerified;
}

export function callersOf(access: Access): readonly CallerKind[] {
  if (access.to === 'everyone') return access.usedBy ?? ['clients'];
  if (access.to === 'services' || access.to === 'operators') return [access.to];
  if (access.to === 'signed-in' && access.or === 'refresh-token') return CALLER_KINDS;
  return takesBoundTokens(access) ? ['clients', 'services'] : ['clients'];
}

export function needsUser(access: Access): boolean {
  if (access.to === 'signed-in') return access.or === undefined;
  return access.to === 'members' || access.to === 'operators';
}

interface RequestCaller {
  principal?: Principal;
}

/** Checks everything except the role in the organization, which RolesGuard checks later. */
export function requireAccess(access: Access | undefined, caller: RequestCaller, env: Env): void {
  if (access === undefined) throw new Problem('forbidden', { detail: 'This route declares no access rule.' });
  const { principal } = caller;
  if (principal?.kind === 'user' && !admitsUnverified(access) && mustVerifyEmail(principal, env))
    throw new Problem('email_not_verified', { detail: UNVERIFIED });
  if (access.to === 'services') return access.scope && requireScope(access.scope, principal);
  if (access.to === 'operators') return requireOperator(access.assurance(env), caller);
  if (access.to === 'signed-in' && access.assurance) requireAssurance(userOf(caller), access.assurance(env));
}

export function requireScope(scope: ServiceScope, principal: Principal | undefined): void {
  if (principal?.kind === 'service' && principal.allow.includes(scope)) return;
  throw new Problem('insufficient_scope', { extensions: { requiredScope: scope } });
}

/** Rejects callers who are not operators before asking for a stronger login. */
function requireOperator(assurance: Assurance, caller: RequestCaller): void {
  const user = userOf(caller);
  if (!user.isOperator) throw new Problem('operator_required');
  const { login } = assurance;
  // Accounts does not see whether a provider asked for a second factor.
  const needsCode = login !== undefined && user.amr.includes('fed');
  requireAssurance(user, needsCode ? { login: { ...login, secondFactor: true } } : assurance);
}
