import { Problem } from '../problems/problem.js';
import type { ServiceScope } from './service-principal.js';

export class UndeclaredAccessError extends Problem {
  constructor() {
    super('forbidden', { detail: 'This route declares no access rule.' });
  }
}

export class PasswordSessionRequiredError extends Problem {
  constructor() {
    super('password_session_required');
  }
}

/** RFC 6749 section 5.2, with the challenge that RFC 7617 section 2 requires. */
export class InvalidClientError extends Problem {
  constructor() {
    super('invalid_client', { headers: { 'WWW-Authenticate': 'Basic realm="services", charset="UTF-8"' } });
  }
}

export class ScopeRequiredError extends Problem {
  constructor(requiredScope: ServiceScope) {
    super('insufficient_scope', { extensions: { requiredScope } });
  }
}

export class OperatorRequiredError extends Problem {
  constructor() {
    super('operator_required');
  }
}
