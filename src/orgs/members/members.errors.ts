import type { Role } from '../../access/principal.js';
import { Problem } from '../../problems/problem.js';

export class OrgNotFoundError extends Problem {
  constructor() {
    super('org_not_found');
  }
}

export class NotAMemberError extends Problem {
  constructor() {
    super('not_a_member');
  }
}

export class InsufficientRoleError extends Problem {
  constructor(requiredRole: Role, yourRole: Role) {
    super('insufficient_role', {
      detail: `This needs the role ${requiredRole}; yours is ${yourRole}.`,
      extensions: { requiredRole, yourRole },
    });
  }
}

export class UserNotFoundError extends Problem {
  constructor() {
    super('user_not_found');
  }
}

export class MemberNotFoundError extends Problem {
  constructor() {
    super('member_not_found');
  }
}

export class MemberDisabledError extends Problem {
  constructor() {
    super('member_disabled');
  }
}

export class AlreadyMemberError extends Problem {
  constructor() {
    super('already_member');
  }
}

export class UserHasTooManyOrgsError extends Problem {
  constructor(max: number) {
    super('user_has_too_many_orgs', {
      detail: `The user belongs to ${max} organizations, the maximum for one user.`,
    });
  }
}

/** The share that additions may use is full; the user can create and accept beyond it. */
export class NoMoreAdditionsError extends Problem {
  constructor(share: number) {
    super('user_has_too_many_orgs', {
      detail: `The user belongs to ${share} or more organizations, so nobody can add them to another; send an invitation.`,
    });
  }
}

export class LastOwnerError extends Problem {
  constructor() {
    super('last_owner', { remedy: { action: 'transfer' } });
  }
}
