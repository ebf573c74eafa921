/** A rule refuses what an operator asked for; the message says what the rule is. */
export class RefusedError extends Error {}

export class OnlyOwnerError extends RefusedError {
  constructor(orgIds: string[]) {
    super(`the user is the only enabled owner of ${orgIds.join(', ')} (last_owner)`);
  }
}

export class OwnerDisabledError extends RefusedError {
  constructor() {
    super('the user is disabled (member_disabled)');
  }
}

export class OwnerNoMemberError extends RefusedError {
  constructor() {
    super('the user is no member of the organization (member_not_found)');
  }
}
