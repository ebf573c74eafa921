import { isDone, type MembershipWrite, mayBeDone } from './invariants.js';
import { unmatched } from './matching.js';
import type { MembershipChange } from './membership-log.js';
import type { Role } from './reference-model.js';

export interface AuthoredWrite extends MembershipWrite {
  kind: 'create' | 'add' | 'change' | 'remove';
  actorId: string;
}

/** How far the clock of the database may be from that of the clients. */
const CLOCKS_DIFFER_MS = 50;

/**
 * I11 and I12: every change was made by somebody whose role allowed it at the moment when it took effect, every
 * acknowledged write was such a change, and none left an organization without an owner.
 *
 * @param changes in the order in which they took effect in each organization
 */
export function brokenAuthority(
  writes: readonly AuthoredWrite[],
  changes: readonly MembershipChange[],
): string[] {
  const orgs = new Map<string, Map<string, Role>>();
  const authors = new Map<MembershipChange, AuthoredWrite[]>();
  const broken: string[] = [];
  for (const change of changes) {
    const roles = orgs.get(change.orgId) ?? new Map<string, Role>();
    orgs.set(change.orgId, roles);
    authors.set(
      change,
      writes.filter((write) => canHaveMade(write, change) && isAllowed(write, roles)),
    );
    if (change.role) roles.set(change.userId, change.role);
    else roles.delete(change.userId);
    if (![...roles.values()].includes('owner')) broken.push(`I12: no owner after ${JSON.stringify(change)}`);
  }

  const madeBy = Map.groupBy(
    changes.flatMap((change) => (authors.get(change) ?? []).map((write) => ({ change, write }))),
    ({ write }) => write,
  );
  const changesOf = (write: AuthoredWrite) => (madeBy.get(write) ?? []).map(({ change }) => change);
  return [
    ...broken,
    ...unmatched(changes, (change) => authors.get(change) ?? []).map(
      (change) => `I11: nobody was allowed to make ${JSON.stringify(change)}`,
    ),
    ...unmatched(writes.filter(isDone), changesOf).map(
      (write) => `I11: acknowledged, and its actor was not allowed to do it: ${JSON.stringify(write)}`,
    ),
  ];
}

function canHaveMade(write: AuthoredWrite, change: MembershipChange): boolean {
  return (
    mayBeDone(write) &&
    write.orgId === change.orgId &&
    write.userId === change.userId &&
    write.role === change.role &&
    performance.timeOrigin + write.startedAt - CLOCKS_DIFFER_MS <= change.at &&
    performance.timeOrigin + write.endedAt + CLOCKS_DIFFER_MS >= change.at
  );
}

/** @param roles in the organization, before the write */
function isAllowed(
  { kind, actorId, userId, role }: AuthoredWrite,
  roles: ReadonlyMap<string, Role>,
): boolean {
  if (kind === 'create') return roles.size === 0 && actorId === userId;
  const actor = roles.get(actorId);
  const target = roles.get(userId);
  if (actor !== 'admin' && actor !== 'owner') return false;
  if (kind === 'add') return target === undefined;
  return target !== undefined && (actor === 'owner' || (target !== 'owner' && role !== 'owner'));
}
