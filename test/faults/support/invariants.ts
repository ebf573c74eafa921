import type { Row } from '../../support/database.js';
import type { Role } from '../../support/personas.js';
import type { RequestOptions, Send } from '../../support/service-client.js';

interface RecordedEvent {
  type: string;
  orgId: string;
  orgRevision: number;
  userId: string;
  sessionId: string;
  data: string;
  /** of whom, and when */
  request: string;
}

export function recordedEvent(row: Row): RecordedEvent {
  return {
    type: String(row['type']),
    orgId: String(row['org_id']),
    orgRevision: Number(row['org_revision']),
    userId: String(row['user_id']),
    sessionId: String(row['session_id']),
    data: String(row['data']),
    request: `${row['request_id']} ${row['at']}`,
  };
}

/** The whole state of the service, read from its database when nothing is under way. */
export interface Snapshot {
  users: { id: string; email: string; disabledAt: number | null }[];
  orgs: { id: string; deletedAt: number | null; purgeBeganAt: number | null }[];
  members: { orgId: string; userId: string; role: Role }[];
  sessions: {
    id: string;
    userId: string;
    loginId: string | null;
    branchId: string | null;
    codeHash: string | null;
  }[];
  events: RecordedEvent[];
}

export interface Answered {
  /** Of one clock for all operations. */
  startedAt: number;
  endedAt: number;
  /** undefined: no answer, so it may have been done or not. */
  status: number | undefined;
  retryAfter: string | null;
}

/** Without a reply, `error` is the reason. */
export async function timed(send: Send, method: string, path: string, options?: RequestOptions) {
  const startedAt = performance.now();
  const result = await send(method, path, options).then(
    (reply) => ({ reply, error: undefined }),
    (error: unknown) => ({ reply: undefined, error }),
  );
  const { status, retryAfter } = result.reply ?? { status: undefined, retryAfter: null };
  const answered: Answered = { status, retryAfter, startedAt, endedAt: performance.now() };
  return { ...result, answered };
}

export interface MembershipWrite extends Answered {
  orgId: string;
  userId: string;
  role: Role | undefined;
}

export const isDone = ({ status }: Answered): boolean => status !== undefined && status < 300;
// A 503 may follow a COMMIT whose answer was lost.
export const mayBeDone = ({ status }: Answered): boolean =>
  status === undefined || status < 300 || status === 503;

/** I1 to I4 on the final state; gives one sentence for each violation. */
export function brokenInState(snapshot: Snapshot): string[] {
  const { users, orgs, members, sessions } = snapshot;
  const known = new Set(users.map((user) => user.id));
  const enabled = new Set(users.filter(({ disabledAt }) => disabledAt === null).map((user) => user.id));
  const owned = new Set(
    members.filter((m) => m.role === 'owner' && enabled.has(m.userId)).map((m) => m.orgId),
  );
  const open = new Map(sessions.map((session) => [session.id, session]));
  const orgIds = new Set(orgs.map((org) => org.id));
  /** A session that a code opened has a login of the same user, and a head of the same login. */
  const comesFromOne = ({ userId, loginId, branchId, codeHash }: Snapshot['sessions'][number]): boolean => {
    if (loginId === null || branchId === null) return codeHash === null && branchId === loginId;
    const [login, head] = [open.get(loginId), open.get(branchId)];
    const isOfLogin = login?.userId === userId && login.loginId === null && head?.loginId === loginId;
    return codeHash !== null && isOfLogin;
  };
  return [
    ...orgs
      .filter(({ id, deletedAt }) => deletedAt === null && !owned.has(id))
      .map(({ id }) => `I1: organization ${id} has no enabled owner`),
    ...repeated(members.map((m) => `${m.orgId} ${m.userId}`)).map((key) => `I2: member twice: ${key}`),
    ...repeated(users.map((user) => user.email)).map((email) => `I3: e-mail twice: ${email}`),
    ...repeated(sessions.flatMap(({ codeHash }) => codeHash ?? [])).map(
      (hash) => `I4: two sessions of one code: ${hash}`,
    ),
    ...members.filter((m) => !known.has(m.userId)).map((m) => `orphan: member ${m.userId} of ${m.orgId}`),
    ...members.filter((m) => !orgIds.has(m.orgId)).map((m) => `orphan: membership of ${m.orgId}`),
    ...sessions.filter((s) => !known.has(s.userId)).map((s) => `orphan: session ${s.id} of ${s.userId}`),
    ...sessions.filter((s) => !comesFromOne(s)).map((s) => `orphan: session ${s.id} of login ${s.loginId}`),
    ...brokenRecord(snapshot),
  ];
}

/** The audit log matches the data: no change without its row, no row without its change. */
function brokenRecord({ users, orgs, members, sessions, events }: Snapshot): string[] {
  const about = (type: string): RecordedEvent[] => events.filter((event) => event.type === type);
  const deleted = new Set(about('account.deleted').map(({ userId }) => userId));
  const purged = new Set(about('org.purged').map(({ orgId }) => orgId));
  /** Memberships go with the organization, without an event for each. */
  const isThere = ({ orgId }: { orgId: string }): boolean =>
    !purged.has(orgId) && !orgs.some(({ id, purgeBeganAt }) => id === orgId && purgeBeganAt !== null);
  const ofThoseLeft = (type: string): RecordedEvent[] =>
    about(type).filter(({ userId }) => !deleted.has(userId));
  const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);
  const textsOf = (all: Snapshot['members']): string[] =>
    all.map(({ orgId, userId, role }) => `${orgId} ${userId} ${role}`);

  const usersOf = (all: RecordedEvent[]): string[] => all.map(({ userId }) => userId);
  const orgsOf = (all: RecordedEvent[]): string[] => all.map(({ orgId }) => orgId);
  const started = ofThoseLeft('session.started').map(({ sessionId }) => sessionId);
  const logins = idsOf(sessions.filter(({ loginId }) => loginId === null));
  const isNotPurged = (id: string): boolean => !purged.has(id);
  const gone = idsOf(orgs.filter(({ deletedAt }) => deletedAt !== null));
  const roles = replay(events.filter((event) => event.type.startsWith('member.') && isThere(event)));
  return [
    ...differences('registered', usersOf(ofThoseLeft('account.registered')), idsOf(users)),
    ...differences('created', orgsOf(about('org.created')).filter(isNotPurged), idsOf(orgs)),
    ...differences('deleted', deletedByRecord(events).filter(isNotPurged), gone),
    ...differences('started', started, logins),
    ...differences('member', roles, textsOf(members.filter(isThere))),
    ...repeatedRevisions(events),
    ...users.filter(({ id }) => deleted.has(id)).map(({ id }) => `record: deleted and there: ${id}`),
  ];
}

const inOrder = (events: RecordedEvent[]): RecordedEvent[] =>
  events.toSorted((one, other) => one.orgRevision - other.orgRevision);

function deletedByRecord(events: readonly RecordedEvent[]): string[] {
  const latest = new Map<string, string>();
  const changes = events.filter(({ type }) => type === 'org.deleted' || type === 'org.restored');
  for (const { type, orgId } of inOrder(changes)) latest.set(orgId, type);
  return [...latest].filter(([, type]) => type === 'org.deleted').map(([orgId]) => orgId);
}

function replay(changes: RecordedEvent[]): string[] {
  const roles = new Map<string, string>();
  for (const { type, orgId, userId, data } of inOrder(changes)) {
    const { role, to } = JSON.parse(data) as { role?: string; to?: string };
    const key = `${orgId} ${userId}`;
    if (type === 'member.removed') roles.delete(key);
    else roles.set(key, String(to ?? role));
  }
  return [...roles].map(([key, role]) => `${key} ${role}`);
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
    ...repeated(recorded).map((key) => `twice: ${key}`),
    ...[...rows].filter((key) => !facts.has(key)).map((key) => `a row without its change: ${key}`),
    ...[...facts].filter((key) => !rows.has(key)).map((key) => `a change without its row: ${key}`),
  ].map((broken) => `record, ${what}: ${broken}`);
}

/** I5 and I6: each membership ends as an operation left it that no acknowledged operation came after. */
export function brokenWrites(writes: readonly MembershipWrite[], snapshot: Snapshot): string[] {
  const final = new Map(snapshot.members.map((m) => [`${m.orgId} ${m.userId}`, m.role]));
  const broken: string[] = [];
  for (const [key, among] of Map.groupBy(writes, (write) => `${write.orgId} ${write.userId}`)) {
    const role = final.get(key);
    const acknowledged = among.filter(isDone);
    const explained =
      (acknowledged.length === 0 && role === undefined) ||
      among.some(
        (write) =>
          mayBeDone(write) &&
          write.role === role &&
          !acknowledged.some((later) => later.role !== role && later.startedAt > write.endedAt),
      );
    if (!explained) broken.push(`I5: membership ${key} ended as ${role ?? 'none'}, which no write explains`);
  }
  return broken;
}

export function repeated(keys: readonly string[]): string[] {
  return [...Map.groupBy(keys, (key) => key)].filter(([, among]) => among.length > 1).map(([key]) => key);
}
