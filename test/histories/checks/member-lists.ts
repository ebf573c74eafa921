import type { DetailRead, MemberListRead, Timed, Violation } from '../history.js';
import { broken } from './changes.js';
import { isSameList } from './details.js';
import type { OrgLog } from './org-log.js';
import type { RealTime } from './real-time.js';

type Read = Timed<MemberListRead | DetailRead>;

/** Every list of members is one that the organization had during the read, and its reader was entitled to it. */
export function brokenMemberLists(reads: readonly Read[], log: OrgLog, realTime: RealTime): Violation[] {
  return reads.flatMap((read) => {
    const possible = realTime.revisionsFor(read, log);
    const text = read.seen ? listFault(read, possible, log) : refusalFault(read, possible, log);
    return text === undefined ? [] : [broken(text[0], text[1], [read])];
  });
}

type Fault = [rule: string, text: string];

function refusalFault({ status, readerId }: Read, possible: number[], log: OrgLog): Fault | undefined {
  if (status !== 403 && status !== 404) return undefined;
  if (possible.some((revision) => log.roleAt(readerId, revision) === undefined)) return undefined;
  return ['member_refused', `${status} for a user who was a member during the whole read`];
}

function listFault({ kind, readerId, seen }: Read, possible: number[], log: OrgLog): Fault | undefined {
  const memberships = possible.filter((revision) => log.roleAt(readerId, revision) !== undefined);
  const last = memberships.at(-1);
  if (last === undefined) return ['removed_reader', 'a user who was no member during the read got the list'];

  const found = seen!.members;
  const revisions = possible.filter((revision) => isSameList(found, log.membersAt(revision)));
  // A reader who became a member again may see what was before.
  if (revisions.some((revision) => revision <= last)) return undefined;
  if (revisions.length > 0) return ['newer_than_removal', 'the list is newer than the removal of its reader'];
  // The detail is compared at its own revision.
  if (kind === 'detail') return undefined;

  const [least = 0] = possible;
  const ids = new Set(found.map(({ userId }) => userId));
  const isThroughout = ({ userId }: { userId: string }): boolean =>
    possible.every((revision) => log.roleAt(userId, revision) !== undefined);
  if (log.membersAt(least).some((member) => isThroughout(member) && !ids.has(member.userId)))
    return ['member_missing', 'a member whose membership was acknowledged before is missing'];
  if (found.some(({ userId }) => possible.every((revision) => log.roleAt(userId, revision) === undefined)))
    return ['removed_member', 'a user whose removal was acknowledged before is in the list'];
  return ['list_of_no_revision', 'the organization never had this list of members during the read'];
}
