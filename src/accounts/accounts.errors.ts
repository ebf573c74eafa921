import { Problem } from '../problems/problem.js';

/** A rule refuses what an operator asked for; the message says what the rule is. */
export class RefusedError extends Error {}

const MAX_NAMED = 100;

export class OnlyOwnerError extends RefusedError {
  /** @param alone those of them in which nobody else is: no other owner can be made there */
  constructor(
    readonly orgIds: string[],
    readonly alone: string[] = [],
  ) {
    const also = alone.length === 0 ? '' : `; nobody else is in ${named(alone)}`;
    super(`the user is the only enabled owner of ${named(orgIds)}${also} (last_owner)`);
  }
}

/** The same, told to the user. */
export class OrgsNeedOwnerError extends Problem {
  constructor({ orgIds, alone }: OnlyOwnerError) {
    const orgs = orgIds.slice(0, MAX_NAMED).map((id) => ({ id, hasOtherMembers: !alone.includes(id) }));
    const orgIdsWithOthers = orgs.filter(({ hasOtherMembers }) => hasOtherMembers).map(({ id }) => id);
    super('last_owner', { extensions: { orgs }, remedy: { action: 'transfer', orgIds: orgIdsWithOthers } });
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
