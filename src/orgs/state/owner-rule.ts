import type { Actor } from '../../access/principal.js';
import type { NewEvent } from '../../events/event-types.js';
import type { Departure } from './members.repository.js';
import { requireOtherOwner } from './member-policy.js';
import { OnlyOwnerError } from './orgs.errors.js';

/**
 * The organizations of a user keep an enabled owner without that user. Deleted ones need none.
 * @returns the departures that leave none, by force
 * @throws OnlyOwnerError
 */
export function requireOtherOwners(departures: readonly Departure[], force: boolean): Departure[] {
  return requireOtherOwner(
    departures.filter(({ isDeleted }) => !isDeleted),
    {
      force,
      refuse: (orphaned) => new OnlyOwnerError(orphaned),
    },
  );
}

/** One event for each organization, since one cannot hold the ids of all; the organization's admins see it, too. */
export function orphanings(
  orphaned: readonly Departure[],
  { userId, actor, reason }: { userId: string; actor: Actor; reason: 'owner_disabled' | 'owner_deleted' },
): NewEvent[] {
  return orphaned.map(({ orgId, revision: orgRevision }) => ({
    type: 'org.orphaned',
    actor,
    orgId,
    orgRevision,
    userId,
    data: { reason, force: true },
  }));
}

export function orgIdsOf(departures: readonly Departure[]): string[] {
  return departures.map(({ orgId }) => orgId);
}
