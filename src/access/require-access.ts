import { OperatorRequiredError, ScopeRequiredError, UndeclaredAccessError } from './access.errors.js';
import type { Env } from '../config/env.js';
import { type Assurance, requireAssurance } from './assurance.js';
import { type Principal, userOf } from './principal.js';
import type { Access } from './route-access.js';
import type { ServiceScope } from './service-principal.js';

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
