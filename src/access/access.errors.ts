import { Problem } from '../problems/problem.js';
import type { ServiceScope } from './principal.js';

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

const RECENT_LOGIN = 'This needs a recent login by password; log in again.';

export const BOUND_TOKEN = 'A token that a code for one service opened does not admit to this.';

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

/** RFC 6750 section 3.1 */
export class BoundTokenError extends Problem {
  constructor() {
    super('insufficient_scope', {
      detail: BOUND_TOKEN,
      headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' },
    });
  }
}

/** RFC 9470 section 3 */
export class InsufficientUserAuthenticationError extends Problem {
  constructor({ secondFactor, maxAge }: { secondFactor: boolean; maxAge: number }) {
    super('insufficient_user_authentication', {
      ...(!secondFactor && { detail: RECENT_LOGIN }),
      headers: {
        'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age=${maxAge}`,
      },
    });
  }
}

export class OperatorRequiredError extends Problem {
  constructor() {
    super('operator_required');
  }
}
