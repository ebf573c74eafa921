import type { InvitationListRead, Timed, Violation } from '../history.js';
import { broken } from './changes.js';
import type { OrgLog } from './org-log.js';
import type { RealTime } from './real-time.js';

type Listed = NonNullable<InvitationListRead['seen']>['invitations'];

/** Every list of invitations is one that the organization had during the read. */
export function brokenInvitationLists(
  reads: readonly Timed<InvitationListRead>[],
  log: OrgLog,
  realTime: RealTime,
): Violation[] {
  return reads.flatMap((read) => {
    if (!read.seen) return [];
    const { limit, seen } = read;
    const lists = realTime.revisionsFor(read, log).map((revision) => log.invitationsAt(revision, limit));
    if (lists.some((list) => textOf(list) === textOf(seen.invitations))) return [];
    return faultsOf(seen.invitations, lists).map(([rule, text]) => broken(rule, text, [read]));
  });
}

function faultsOf(found: Listed, lists: readonly Listed[]): [rule: string, text: string][] {
  const ids = new Set(found.map(({ id }) => id));
  const isTwice = ids.size < found.length;
  const inAll = lists[0]!.filter(({ id }) => lists.every((list) => list.some((one) => one.id === id)));
  const missing = inAll.filter(({ id }) => !ids.has(id));
  const faults: [string, string][] = [
    ...(isTwice ? [['invitation_twice', 'an invitation is in the list twice'] as [string, string]] : []),
    ...(missing.length > 0
      ? [['invitation_missing', `${missing.length} acknowledged invitations are missing`] as [string, string]]
      : []),
  ];
  if (faults.length > 0) return faults;
  return [
    ['invitations_of_no_revision', 'the organization never had this list of invitations during the read'],
  ];
}

function textOf(list: Listed): string {
  return list.map(({ id, status }) => `${id} ${status}`).join();
}
