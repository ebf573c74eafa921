import { Reflector } from '@nestjs/core';
import type { Env } from '../config/env.js';
import { OperatorRequiredError, ScopeRequiredError, UndeclaredAccessError } from './access.errors.js';
import { type Assurance, requireAssurance } from './assurance.js';
import { type Principal, type Role, type ServiceScope, userOf } from './principal.js';

export interface ForBoundTokens {
  /** also admits tokens that a code for one service alone opened */
  boundTokens?: true;
}

/** The kinds of callers that the service has, each with an OpenAPI document of its own. */
export const CALLER_KINDS = ['clients', 'services', 'operators'] as const;

export type CallerKind = (typeof CALLER_KINDS)[number];

/** Every route declares exactly one; a route that declares none is refused. */
export type Access =
  | { to: 'everyone'; or?: 'service'; usedBy?: readonly CallerKind[] }
  | ({ to: 'signed-in'; assurance?: Assurance; or?: 'refresh-token' } & ForBoundTokens)
  | ({ to: 'members'; minRole: Role; assurance?: Assurance } & ForBoundTokens)
  | { to: 'services'; scope: ServiceScope }
  | { to: 'operators'; assurance: (env: Env) => Assurance };

export const RouteAccess = Reflector.createDecorator<Access>();

export function takesBoundTokens(access: Access | undefined): boolean {
  return (access?.to === 'signed-in' || access?.to === 'members') && access.boundTokens === true;
}

/** Returns the callers for whom a route is documented. One that admits everyone is for clients unless it says more. */
export function callersOf(access: Access): readonly CallerKind[] {
  if (access.to === 'everyone') return access.usedBy ?? ['clients'];
  if (access.to === 'services' || access.to === 'operators') return [access.to];
  if (access.to === 'signed-in' && access.or === 'refresh-token') return CALLER_KINDS;
  return takesBoundTokens(access) ? ['clients', 'services'] : ['clients'];
}

/** Logging out needs no user: a refresh token is enough. */
export function needsUser(access: Access): boolean {
  if (access.to === 'signed-in') return access.or === undefined;
  return access.to === 'members' || access.to === 'operators';
}

interface Caller {
  principal?: Principal;
}

/** Requires what a route declares, but for the role in an organization: what goes with it is asked after it. */
export function requireAccess(access: Access | undefined, caller: Caller, env: Env): void {
  if (access === undefined) throw new UndeclaredAccessError();
  if (access.to === 'services') return requireScope(access.scope, caller);
  if (access.to === 'operators') return requireOperator(access.assurance(env), caller);
  if (access.to === 'signed-in' && access.assurance) requireAssurance(userOf(caller), access.assurance);
}

function requireScope(scope: ServiceScope, { principal }: Caller): void {
  if (principal?.kind !== 'service' || !principal.allow.includes(scope)) throw new ScopeRequiredError(scope);
}

/** Tells first who is no operator, whom another login would not help. */
function requireOperator(assurance: Assurance, caller: Caller): void {
  const user = userOf(caller);
  if (!user.isOperator) throw new OperatorRequiredError();
  requireAssurance(user, assurance);
}
