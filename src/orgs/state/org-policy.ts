import { OrgNotFoundError } from './orgs.errors.js';
import type { OrgRow } from './orgs.repository.js';

/** Does not tell why an organization cannot be restored, not even that it is there. */
export function requireRestorable(
  { purgeAt, purgeBeganAt }: Pick<OrgRow, 'purgeAt' | 'purgeBeganAt'>,
  now: number,
): void {
  if (purgeAt === null || purgeBeganAt !== null || purgeAt <= now) throw new OrgNotFoundError();
}
