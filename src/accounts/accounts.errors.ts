/** A rule refuses what an operator asked for; the message says what the rule is. */
export class RefusedError extends Error {}

const MAX_NAMED = 100;

export class OnlyOwnerError extends RefusedError {
  /** @param alone those of them in which nobody else is: no other owner can be made there */
  constructor(orgIds: string[], alone: string[] = []) {
    const also = alone.length === 0 ? '' : `; nobody else is in ${named(alone)}`;
    super(`the user is the only enabled owner of ${named(orgIds)}${also} (last_owner)`);
  }
}

function named(orgIds: string[]): string {
  const more = orgIds.length > MAX_NAMED ? ` and ${orgIds.length - MAX_NAMED} more` : '';
  return orgIds.slice(0, MAX_NAMED).join(', ') + more;
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
