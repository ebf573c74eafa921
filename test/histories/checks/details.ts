import type { DetailRead, ListedMember, LoggedEvent, OrgChange, Timed, Violation } from '../history.js';
import { broken } from './changes.js';
import type { OrgLog } from './org-log.js';

type Seen = NonNullable<DetailRead['seen']>;

/** Name and members of an organization are as the audit log gives them at the revision of the answer. */
export function detailsOfNoRevision(
  reads: readonly Timed<DetailRead>[],
  changes: readonly Timed<OrgChange>[],
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

/** An entity tag, which is strong, never has two bodies. */
export function tagsWithTwoBodies(reads: readonly Timed<DetailRead>[]): Violation[] {
  const seen = reads.filter((read): read is Timed<DetailRead> & { seen: Seen } => read.seen !== undefined);
  return [...Map.groupBy(seen, (read) => read.seen.revision)].flatMap(([revision, same]) => {
    const bodies = new Map(same.map((read) => [read.seen.body, read]));
    if (bodies.size <= 1) return [];
    return [
      broken('tag_with_two_bodies', `${bodies.size} bodies have the tag "${revision}"`, [...bodies.values()]),
    ];
  });
}

export function isSameList(some: readonly ListedMember[], others: readonly ListedMember[]): boolean {
  const textOf = (list: readonly ListedMember[]): string =>
    list
      .map(({ userId, role }) => `${userId} ${role}`)
      .toSorted()
      .join();
  return textOf(some) === textOf(others);
}

/** The audit log has no names: of changes whose answers were lost, each by the actor may have given the name. */
function namesGivenBy(event: LoggedEvent | undefined, changes: readonly Timed<OrgChange>[]): string[] {
  if (!event) return [];
  const naming = changes.filter(
    ({ actorId, effect }) => actorId === event.actorId && effect.type === event.type,
  );
  const known = naming.filter(({ result, revision }) => result === 'ok' && revision === event.revision);
  const possible = known.length > 0 ? known : naming.filter(({ result }) => result === 'unknown');
  return possible.flatMap(({ effect }) => ('name' in effect ? [effect.name] : []));
}
