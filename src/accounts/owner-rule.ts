import type { Departure } from '../memberships/ownership.repository.js';
import { requireOtherOwner } from '../memberships/membership-policy.js';
import { OnlyOwnerError } from './accounts.errors.js';

/**
 * The organizations of a user keep an enabled owner without that user. Deleted ones need none.
 *
 * @returns whether it took force
 * @throws OnlyOwnerError
 */
export function requireOtherOwners(departures: readonly Departure[], force: boolean): boolean {
  return requireOtherOwner(
    departures.filter(({ isDeleted }) => !isDeleted),
    {
      force,
      refuse: (orphaned) => {
        const alone = orphaned.filter(({ hasOtherMember }) => !hasOtherMember);
        return new OnlyOwnerError(orgIdsOf(orphaned), orgIdsOf(alone));
      },
    },
  );
}

export function orgIdsOf(departures: readonly Departure[]): string[] {
  return departures.map(({ orgId }) => orgId);
}
