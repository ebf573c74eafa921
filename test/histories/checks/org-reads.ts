import type {
  DetailRead,
  InvitationListRead,
  ListedInvitations,
  ListedMember,
  LoggedEvent,
  LogRead,
  MemberListRead,
  Operation,
  OrgChange,
  Timed,
  Violation,
} from '../history.js';
import type { OrgLog, RealTime } from './org-log.js';

type Change = Timed<OrgChange>;
type Fault = [rule: string, text: string];

export function broken(rule: string, text: string, operations: readonly Operation[]): Violation {
  return { rule, text, operations };
}

/** A change has a greater revision than all that was shown before it began. */
export function changesOutOfOrder(made: ReadonlyMap<Change, number>, realTime: RealTime): Violation[] {
  return [...made].flatMap(([change, revision]) => {
    const shown = realTime.shownBefore(change.startedAt);
    if (revision > shown) return [];
    const text = `a change has revision ${revision}, and revision ${shown} was shown before it began`;
    return [broken('change_out_of_order', text, [change])];
  });
}

/** A read shows no older revision than a read or change that ended before it began. */
export function staleDetails(reads: readonly Timed<DetailRead>[], realTime: RealTime): Violation[] {
  return reads.flatMap((read) => {
    const shown = realTime.shownBefore(read.startedAt);
    if (!read.seen || read.seen.revision >= shown) return [];
    const text = `a read shows revision ${read.seen.revision}, and revision ${shown} was shown before it began`;
    return [broken('stale_read', text, [read])];
  });
}

/** Name and members of an organization are as the audit log gives them at the revision of the answer. */
export function detailsOfNoRevision(
  reads: readonly Timed<DetailRead>[],
  changes: readonly Change[],
  log: OrgLog,
): Violation[] {
  return reads.flatMap((read) => {
    if (!read.seen) return [];
    const { revision, name, members } = read.seen;
    const wrong = [
      ...(namesGivenBy(log.namingAt(revision), changes).includes(name) ? [] : ['name']),
      ...(isSameList(members, log.membersAt(revision)) ? [] : ['members']),
    ];
    if (wrong.length === 0) return [];
    return [broken('detail_of_no_revision', `at revision ${revision} other ${wrong.join(' and ')}`, [read])];
  });
}

/** The audit log has no names: of changes whose answers were lost, each by the actor may have given the name. */
function namesGivenBy(event: LoggedEvent | undefined, changes: readonly Change[]): string[] {
  const naming = changes.filter(
    ({ actorId, effect }) => actorId === event?.actorId && effect.type === event.type,
  );
  const known = naming.filter(({ result, revision }) => result === 'ok' && revision === event?.revision);
  const possible = known.length > 0 ? known : naming.filter(({ result }) => result === 'unknown');
  return possible.flatMap(({ effect }) => ('name' in effect ? [effect.name] : []));
}

/** An entity tag, which is strong, never has two bodies. */
export function tagsWithTwoBodies(reads: readonly Timed<DetailRead>[]): Violation[] {
  const byTag = Map.groupBy(
    reads.filter(({ seen }) => seen),
    ({ seen }) => seen!.revision,
  );
  return [...byTag].flatMap(([revision, same]) => {
    const bodies = new Map(same.map((read) => [read.seen!.body, read]));
    if (bodies.size <= 1) return [];
    const text = `${bodies.size} bodies have the tag "${revision}"`;
    return [broken('tag_with_two_bodies', text, [...bodies.values()])];
  });
}

function isSameList(some: readonly ListedMember[], others: readonly ListedMember[]): boolean {
  const [one, other] = [some, others].map((list) => list.map(({ userId, role }) => `${userId} ${role}`));
  return one!.toSorted().join() === other!.toSorted().join();
}

/** Every list of members is one that the organization had during the read, and its reader was entitled to it. */
export function brokenMemberLists(
  read: Timed<MemberListRead | DetailRead>,
  log: OrgLog,
  realTime: RealTime,
): Violation[] {
  const possible = realTime.revisionsFor(read);
  const fault = read.seen ? listFault(read, possible, log) : refusalFault(read, possible, log);
  return fault ? [broken(...fault, [read])] : [];
}

function refusalFault(
  { status, readerId }: Timed<MemberListRead | DetailRead>,
  possible: number[],
  log: OrgLog,
): Fault | undefined {
  if (status !== 403 && status !== 404) return undefined;
  if (possible.some((revision) => log.roleAt(readerId, revision) === undefined)) return undefined;
  return ['member_refused', `${status} for a user who was a member during the whole read`];
}

function listFault(
  { kind, readerId, seen }: MemberListRead | DetailRead,
  possible: number[],
  log: OrgLog,
): Fault | undefined {
  const last = possible.findLast((revision) => log.roleAt(readerId, revision) !== undefined);
  if (last === undefined) return ['removed_reader', 'a user who was no member during the read got the list'];

  const found = seen!.members;
  const revisions = possible.filter((revision) => isSameList(found, log.membersAt(revision)));
  // A reader who became a member again may see what was before.
  if (revisions.some((revision) => revision <= last)) return undefined;
  if (revisions.length > 0) return ['newer_than_removal', 'the list is newer than the removal of its reader'];
  // The detail is compared at its own revision.
  if (kind === 'detail') return undefined;

  const ids = new Set(found.map(({ userId }) => userId));
  const isThroughout = ({ userId }: ListedMember): boolean =>
    possible.every((revision) => log.roleAt(userId, revision) !== undefined);
  if (log.membersAt(possible[0]!).some((member) => isThroughout(member) && !ids.has(member.userId)))
    return ['member_missing', 'a member whose membership was acknowledged before is missing'];
  if (found.some(({ userId }) => possible.every((revision) => log.roleAt(userId, revision) === undefined)))
    return ['removed_member', 'a user whose removal was acknowledged before is in the list'];
  return ['list_of_no_revision', 'the organization never had this list of members during the read'];
}

/** Every list of invitations is one that the organization had during the read. */
export function brokenInvitationLists(
  read: Timed<InvitationListRead>,
  log: OrgLog,
  realTime: RealTime,
): Violation[] {
  if (!read.seen) return [];
  const found = read.seen.invitations;
  const lists = realTime.revisionsFor(read).map((revision) => log.invitationsAt(revision, read.limit));
  const textOf = (list: ListedInvitations): string => list.map(({ id, status }) => `${id} ${status}`).join();
  if (lists.some((list) => textOf(list) === textOf(found))) return [];

  const ids = new Set(found.map(({ id }) => id));
  const inAll = lists[0]!.filter(({ id }) => lists.every((list) => list.some((one) => one.id === id)));
  const missing = inAll.filter(({ id }) => !ids.has(id)).length;
  const faults: Fault[] = [];
  if (ids.size < found.length) faults.push(['invitation_twice', 'an invitation is in the list twice']);
  if (missing > 0) faults.push(['invitation_missing', `${missing} acknowledged invitations are missing`]);
  const text = 'the organization never had this list of invitations during the read';
  if (faults.length === 0) faults.push(['invitations_of_no_revision', text]);
  return faults.map((fault) => broken(...fault, [read]));
}

/** A page of the audit log has every change that was acknowledged before, and skips none. */
export function brokenLogReads(read: Timed<LogRead>, log: OrgLog, realTime: RealTime): Violation[] {
  if (!read.seen) return [];
  const newest = read.seen.events[0]?.revision ?? 0;
  const [least] = realTime.revisionsFor(read) as [number];
  if (newest < (log.revisions.findLast((revision) => revision <= least) ?? 0)) {
    const text = `the audit log ends with revision ${newest}, and revision ${least} was shown before the read began`;
    return [broken('stale_read', text, [read])];
  }
  const until = log.events.filter(({ revision }) => revision <= newest);
  const wanted = until.toReversed().slice(0, read.limit);
  const idsOf = (events: readonly { id: string }[]): string => events.map(({ id }) => id).join();
  if (idsOf(read.seen.events) === idsOf(wanted)) return [];
  return [broken('log_with_gaps', `the audit log that ends with revision ${newest} skips events`, [read])];
}
