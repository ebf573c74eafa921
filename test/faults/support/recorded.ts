import type { Row } from '../../support/database.js';
import type { RecordedEvent, Snapshot } from './snapshot.js';

/** What is null becomes the word. */
export function recordedEvent(row: Row): RecordedEvent {
  return {
    type: String(row['type']),
    orgId: String(row['org_id']),
    orgRevision: Number(row['org_revision']),
    userId: String(row['user_id']),
    sessionId: String(row['session_id']),
    data: String(row['data']),
    request: `${String(row['request_id'])} ${String(row['at'])}`,
  };
}

/** The record tells of exactly what is there: no change without its row, no row without its change. */
export function brokenRecord({ users, orgs, members, sessions, events }: Snapshot): string[] {
  const about = (
    type: string,
    of: (event: RecordedEvent) => string,
    among: (event: RecordedEvent) => boolean = () => true,
  ): string[] => events.filter((event) => event.type === type && among(event)).map(of);
  const logins = sessions.filter(({ loginId }) => loginId === null);
  const deleted = new Set(about('account.deleted', ({ userId }) => userId));
  const purged = new Set(about('org.purged', ({ orgId }) => orgId));
  /** Memberships go with the organization, without an event for each. */
  const isPurged = ({ orgId }: { orgId: string }): boolean =>
    purged.has(orgId) || orgs.some(({ id, purgeBeganAt }) => id === orgId && purgeBeganAt !== null);
  const ofThoseLeft = ({ userId }: RecordedEvent): boolean => !deleted.has(userId);
  return [
    ...differences(
      'registered',
      about('account.registered', ({ userId }) => userId, ofThoseLeft),
      users.map(({ id }) => id),
    ),
    ...differences(
      'created',
      about(
        'org.created',
        ({ orgId }) => orgId,
        (event) => !purged.has(event.orgId),
      ),
      orgs.map(({ id }) => id),
    ),
    ...differences(
      'deleted',
      deletedByRecord(events).filter((id) => !purged.has(id)),
      orgs.filter(({ deletedAt }) => deletedAt !== null).map(({ id }) => id),
    ),
    ...differences(
      'started',
      about('session.started', ({ sessionId }) => sessionId, ofThoseLeft),
      logins.map(({ id }) => id),
    ),
    ...differences(
      'member',
      replayed(events.filter((event) => !isPurged(event))),
      members
        .filter((member) => !isPurged(member))
        .map(({ orgId, userId, role }) => `${orgId} ${userId} ${role}`),
    ),
    ...repeatedRevisions(events),
    ...users.filter(({ id }) => deleted.has(id)).map(({ id }) => `record: deleted and there: ${id}`),
  ];
}

/** The organizations that were deleted and not restored since. */
function deletedByRecord(events: readonly RecordedEvent[]): string[] {
  const deleted = new Set<string>();
  const changes = events.filter(({ type }) => type === 'org.deleted' || type === 'org.restored');
  for (const { type, orgId } of changes.toSorted(byRevision)) {
    if (type === 'org.deleted') deleted.add(orgId);
    else deleted.delete(orgId);
  }
  return [...deleted];
}

/** The memberships that the record leads to, in the order of the revisions. */
function replayed(events: readonly RecordedEvent[]): string[] {
  const roles = new Map<string, string>();
  const changes = events.filter(({ type }) => type.startsWith('member.'));
  for (const { type, orgId, userId, data } of changes.toSorted(byRevision)) {
    const { role, to } = JSON.parse(data) as { role?: string; to?: string };
    const key = `${orgId} ${userId}`;
    if (type === 'member.removed') roles.delete(key);
    else roles.set(key, String(to ?? role));
  }
  return [...roles].map(([key, role]) => `${key} ${role}`);
}

function byRevision(one: RecordedEvent, other: RecordedEvent): number {
  return one.orgRevision - other.orgRevision;
}

function repeatedRevisions(events: readonly RecordedEvent[]): string[] {
  const requests = new Map<string, string>();
  const changes = events.filter(({ type }) => /^(?:member\.|org\.(?!created))/.test(type));
  return changes.flatMap(({ orgId, orgRevision, request }) => {
    const key = `${orgId} ${orgRevision}`;
    const other = requests.get(key);
    requests.set(key, request);
    // A transfer changes two memberships.
    return other === undefined || other === request ? [] : [`record: two changes of revision ${key}`];
  });
}

function differences(what: string, recorded: readonly string[], present: readonly string[]): string[] {
  const [rows, facts] = [new Set(recorded), new Set(present)];
  return [
    ...recorded.filter((key, place) => recorded.indexOf(key) !== place).map((key) => `twice: ${key}`),
    ...[...rows].filter((key) => !facts.has(key)).map((key) => `a row without its change: ${key}`),
    ...[...facts].filter((key) => !rows.has(key)).map((key) => `a change without its row: ${key}`),
  ].map((broken) => `record, ${what}: ${broken}`);
}
