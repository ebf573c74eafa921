import { brokenRecord } from './recorded.js';
import type { Snapshot } from './snapshot.js';
import type { Role } from './reference-model.js';

export interface Answered {
  /** Of one clock for all operations. */
  startedAt: number;
  endedAt: number;
  /** undefined: no answer, so it may have been done or not. */
  status: number | undefined;
  retryAfter: string | null;
}

/** A membership that an operation gives or, with `role: undefined`, takes. */
export interface MembershipWrite extends Answered {
  orgId: string;
  userId: string;
  role: Role | undefined;
}

export interface OrgRead extends Answered {
  orgId: string;
  userId: string;
}

export interface CodeUse extends Answered {
  code: string;
}

export const isDone = (operation: Answered): boolean =>
  operation.status !== undefined && operation.status < 300;
// A 503 may follow a COMMIT whose answer was lost.
export const mayBeDone = (operation: Answered): boolean =>
  operation.status === undefined || operation.status < 300 || operation.status === 503;

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
    ...sessions
      .filter((s) => !comesFromOneOf(open, s))
      .map((s) => `orphan: session ${s.id} of login ${s.loginId}`),
    ...brokenRecord(snapshot),
  ];
}

/** A session that a code opened has a login of the same user, and a head of the same login. */
function comesFromOneOf(
  sessions: ReadonlyMap<string, { userId: string; loginId: string | null }>,
  { userId, loginId, branchId, codeHash }: Snapshot['sessions'][number],
): boolean {
  if (loginId === null || branchId === null) return codeHash === null && branchId === loginId;
  const [login, head] = [sessions.get(loginId), sessions.get(branchId)];
  return codeHash !== null && login?.userId === userId && login.loginId === null && head?.loginId === loginId;
}

/** I4 as the clients saw it. */
export function brokenCodes(uses: readonly CodeUse[]): string[] {
  return repeated(uses.filter(isDone).map((use) => use.code)).map(
    (code) => `I4: two clients exchanged ${code}`,
  );
}

/** I5 and I6: each membership ends as an operation left it that no acknowledged operation came after. */
export function brokenWrites(writes: readonly MembershipWrite[], snapshot: Snapshot): string[] {
  const final = new Map(snapshot.members.map((m) => [`${m.orgId} ${m.userId}`, m.role]));
  const broken: string[] = [];
  for (const [key, among] of grouped(writes, (write) => `${write.orgId} ${write.userId}`)) {
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

/** I8 and I9: nobody read an organization while no write could have made him a member of it. */
export function brokenReads(reads: readonly OrgRead[], writes: readonly MembershipWrite[]): string[] {
  return reads
    .filter(isDone)
    .filter((read) => {
      const mine = writes.filter((write) => write.orgId === read.orgId && write.userId === read.userId);
      const removals = mine.filter((w) => w.role === undefined && isDone(w) && w.endedAt < read.startedAt);
      return !mine.some(
        (gift) =>
          gift.role !== undefined &&
          mayBeDone(gift) &&
          gift.startedAt < read.endedAt &&
          !removals.some((removal) => removal.startedAt > gift.endedAt),
      );
    })
    .map((read) => `I8/I9: ${read.userId} read ${read.orgId} without being a member`);
}

/** I10: no 5xx but 503 with Retry-After, and that only while a dependency is down. */
export function brokenAnswers(operations: readonly Answered[], faultsInjected: boolean): string[] {
  return operations
    .filter(({ status }) => status === undefined || status >= 500)
    .filter(
      ({ status, retryAfter }) =>
        !faultsInjected || (status !== undefined && (status !== 503 || !retryAfter)),
    )
    .map(({ status }) => `I10: answered ${status ?? 'nothing'}`);
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function repeated(keys: readonly string[]): string[] {
  return [...grouped(keys, (key) => key)].filter(([, among]) => among.length > 1).map(([key]) => key);
}
