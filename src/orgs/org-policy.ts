import type { DeletedOrgFacts } from './deleted-orgs.repository.js';
import { OrgNotFoundError } from './members/members.errors.js';

/** Nobody learns why a deleted organization cannot be restored, not even that it was there. */
export function requireRestorable(
  { purgeAt, isBeingPurged }: Pick<DeletedOrgFacts, 'purgeAt' | 'isBeingPurged'>,
  now: number,
): void {
  if (isBeingPurged || purgeAt <= now) throw new OrgNotFoundError();
}
