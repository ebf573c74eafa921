import type { Role } from '../access/role.js';
import { Problem } from '../problems/problem.js';

export class OrgNotFoundError extends Problem {
  constructor() {
    super('org_not_found', 'No organization has this id.');
  }
}

export class NotAMemberError extends Problem {
  constructor() {
    super('not_a_member', 'Only members of the organization may do this.');
  }
}

export class InsufficientRoleError extends Problem {
  constructor(requiredRole: Role, yourRole: Role) {
    super('insufficient_role', `This needs the role ${requiredRole}; yours is ${yourRole}.`, {
      extensions: { requiredRole, yourRole },
    });
  }
}

export class UserNotFoundError extends Problem {
  constructor() {
    super('user_not_found', 'No account has this e-mail; the user has to register first.');
  }
}

export class MemberNotFoundError extends Problem {
  constructor() {
    super('member_not_found', 'No member of this organization has this user id.');
  }
}

export class AlreadyMemberError extends Problem {
  constructor() {
    super('already_member', 'The user is a member already; the role was not changed.');
  }
}

/** for who adds */
export class UserHasTooManyOrgsError extends Problem {
  constructor(max: number) {
    super(
      'user_has_too_many_orgs',
      `The user belongs to ${max} organizations, the most that one user may belong to.`,
    );
  }
}

export class LastOwnerError extends Problem {
  constructor() {
    super('last_owner', 'This is the only owner; make somebody else owner first.');
  }
}
