import { Problem, RefusedError } from '../../problems/problem.js';

export class TooManyOrgsError extends Problem {
  constructor(max: number) {
    super('too_many_orgs', { detail: `You belong to ${max} organizations, the maximum for one user.` });
  }
}

const ENROLLMENT = { remedy: { action: 'enroll_second_factor' } } as const;

export const requiredByOrg = (): Problem => new Problem('second_factor_required_by_org', ENROLLMENT);

export const secondFactorNotEnabled = (): Problem => new Problem('second_factor_not_enabled', ENROLLMENT);

const MAX_NAMED = 100;

export const NO_ENABLED_OWNER =
  'The organization has no enabled owner. Enable one, or restore the organization with force.';

export const ONLY_MEMBER =
  'This user is the only member. Delete the organization, or make another user an owner first.';

const ONLY_MEMBER_OF_SOME =
  'Delete the organizations in which this user is the only member, and make another user an owner of the others.';

/** Without another member, there can be no other owner. */
interface OwnedOrg {
  orgId: string;
  name: string;
  hasOtherMember: number;
}

export class OnlyOwnerError extends RefusedError {
  constructor(owned: readonly OwnedOrg[]) {
    const alone = owned.filter(({ hasOtherMember }) => !hasOtherMember);
    const also = alone.length === 0 ? '' : `; no other user is in ${named(alone)}`;
    const orgs = owned.slice(0, MAX_NAMED).map(({ orgId, name, hasOtherMember }) => ({
      id: orgId,
      name,
      hasOtherMembers: hasOtherMember === 1,
    }));
    const orgIds = orgs.filter(({ hasOtherMembers }) => hasOtherMembers).map(({ id }) => id);
    super(`the user is the only enabled owner of ${named(owned)}${also}`, 'last_owner', {
      ...(alone.length > 0 && { detail: ONLY_MEMBER_OF_SOME }),
      extensions: { orgs },
      remedy: { action: 'transfer', orgIds },
    });
  }
}

function named(orgs: readonly OwnedOrg[]): string {
  const more = orgs.length > MAX_NAMED ? ` and ${orgs.length - MAX_NAMED} more` : '';
  const ids = orgs.slice(0, MAX_NAMED).map(({ orgId }) => orgId);
  return ids.join(', ') + more;
}
