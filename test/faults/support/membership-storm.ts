import * as fc from 'fast-check';
import { atOnce, times } from '../../support/at-once.js';
import type { Org, Role } from '../../support/personas.js';
import { asString, type Send } from '../../support/service-client.js';
import { register, type Storage } from './deployment.js';
import {
  type Answered,
  brokenInState,
  brokenWrites,
  isDone,
  mayBeDone,
  type MembershipWrite,
  repeated,
  timed,
} from './invariants.js';
import { unmatched } from './matching.js';

type Whose = { actor: number; org: number };
export type StormAction =
  | (Whose & { kind: 'read' })
  | (Whose & { kind: 'exchange' })
  | (Whose & { kind: 'add' | 'change' | 'remove'; target: number; role: Role });

/** Batches of requests that are sent at once; the seed of fast-check repeats them (not their interleaving). */
export function stormBatches(batches: number, width: number): fc.Arbitrary<StormAction[][]> {
  const pick = fc.nat({ max: 1000 });
  const low = fc.constantFrom<Role[]>('member', 'admin', 'admin');
  const any = fc.constantFrom<Role[]>('member', 'admin', 'admin', 'owner');
  const who = { actor: pick, org: pick };
  const write = (kind: 'add' | 'change' | 'remove', role: fc.Arbitrary<Role>) => ({
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant(kind), ...who, target: pick, role }),
  });
  const action: fc.Arbitrary<StormAction> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), ...who }) },
    write('add', low),
    write('change', any),
    write('remove', any),
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('exchange' as const), ...who }) },
  );
  const batch = fc.array(action, { minLength: width, maxLength: width });
  return fc.array(batch, { minLength: batches, maxLength: batches });
}

interface AuthoredWrite extends MembershipWrite {
  kind: 'create' | 'add' | 'change' | 'remove';
  actorId: string;
}

const CODE_USES = 5;

/** Several people in a few organizations who change memberships at once; keeps what the invariants need. */
export class MembershipStorm {
  readonly writes: AuthoredWrite[] = [];
  readonly uses: (Answered & { code: string })[] = [];
  readonly reads: (Answered & { orgId: string; userId: string })[] = [];
  private people: { id: string; email: string; token: string }[] = [];
  private readonly orgIds: string[] = [];

  constructor(private readonly send: Send) {}

  /** Every organization begins with two owners. To be called before any fault: it needs every answer. */
  async prepare(run: string, people = 5, orgs = 2): Promise<void> {
    for (let index = 0; index < people; index += 1)
      this.people.push(await register(this.send, `storm${index}.${run}@example.com`));
    for (let index = 0; index < orgs; index += 1) {
      const { id, token } = this.people[index]!;
      const { reply, answered } = await timed(this.send, 'POST', '/api/orgs', {
        token,
        body: { name: 'Storm' },
      });
      const orgId = (reply!.body['org'] as Org).id;
      this.orgIds.push(orgId);
      this.writes.push({ kind: 'create', orgId, actorId: id, userId: id, role: 'owner', ...answered });
      const other = { actor: index, org: index, target: index + 1 };
      await this.act({ kind: 'add', ...other, role: 'admin' });
      await this.act({ kind: 'change', ...other, role: 'owner' });
    }
  }

  async run(batches: readonly (readonly StormAction[])[]): Promise<void> {
    for (const batch of batches) await atOnce(batch.map((action) => () => this.act(action)));
  }

  get all(): Answered[] {
    return [...this.writes, ...this.reads, ...this.uses];
  }

  /** What breaks an invariant, once everything is answered and can be read from the storage. */
  async broken(storage: Storage): Promise<string[]> {
    const snapshot = await storage.snapshot();
    const changes = (await readMembershipLog(storage)).filter(({ orgId }) => this.orgIds.includes(orgId));
    return [
      ...brokenInState(snapshot),
      ...brokenWrites(this.writes, snapshot),
      ...brokenAuthority(this.writes, changes),
      ...this.brokenReads(),
      // I4 as the clients saw it.
      ...repeated(this.uses.filter(isDone).map((use) => use.code)).map(
        (code) => `I4: two clients exchanged ${code}`,
      ),
      // I10: no 5xx while no dependency is down.
      ...this.all
        .filter(({ status }) => status === undefined || status >= 500)
        .map(({ status }) => `I10: answered ${status ?? 'nothing'}`),
    ];
  }

  /** I8 and I9: nobody read an organization while no write could have made him a member of it. */
  private brokenReads(): string[] {
    const isWithoutMembership = ({
      orgId,
      userId,
      startedAt,
      endedAt,
    }: (typeof this.reads)[number]): boolean => {
      const mine = this.writes.filter((write) => write.orgId === orgId && write.userId === userId);
      const removals = mine.filter((w) => w.role === undefined && isDone(w) && w.endedAt < startedAt);
      return !mine.some(
        (gift) =>
          gift.role !== undefined &&
          mayBeDone(gift) &&
          gift.startedAt < endedAt &&
          !removals.some((removal) => removal.startedAt > gift.endedAt),
      );
    };
    return this.reads
      .filter((read) => isDone(read) && isWithoutMembership(read))
      .map(({ userId, orgId }) => `I8/I9: ${userId} read ${orgId} without being a member`);
  }

  private async act(action: StormAction): Promise<void> {
    const { token, id } = this.people[action.actor % this.people.length]!;
    const orgId = this.orgIds[action.org % this.orgIds.length]!;
    const path = `/api/orgs/${orgId}`;
    if (action.kind === 'exchange') return this.exchange(token);
    if (action.kind === 'read') {
      const { answered } = await timed(this.send, 'GET', path, { token });
      this.reads.push({ orgId, userId: id, ...answered });
      return undefined;
    }
    const target = this.people[action.target % this.people.length]!;
    const role = action.kind === 'remove' ? undefined : action.role;
    const member = `${path}/members/${target.id}`;
    const requests = {
      add: () => timed(this.send, 'POST', `${path}/members`, { token, body: { email: target.email, role } }),
      change: () => timed(this.send, 'PATCH', member, { token, body: { role } }),
      remove: () => timed(this.send, 'DELETE', member, { token }),
    };
    const { answered } = await requests[action.kind]();
    this.writes.push({ kind: action.kind, orgId, actorId: id, userId: target.id, role, ...answered });
    return undefined;
  }

  private async exchange(token: string): Promise<void> {
    const issued = await timed(this.send, 'POST', '/api/auth/code', { token });
    if (issued.reply?.status !== 201) return;
    const code = asString(issued.reply.body['code']);
    const use = async (): Promise<void> => {
      const { answered } = await timed(this.send, 'POST', '/api/auth/code/exchange', { body: { code } });
      this.uses.push({ ...answered, code });
    };
    await atOnce(times(CODE_USES, () => use));
  }
}

/** One change of a membership, as it took effect. */
interface MembershipChange {
  orgId: string;
  userId: string;
  /** undefined: the member was removed */
  role: Role | undefined;
  /** milliseconds since 1970, of the database's clock */
  at: number;
}

/** Has the database itself write down every change of a membership, in the transaction that makes it. */
export async function logMemberships(storage: Storage): Promise<void> {
  await storage.query(
    `CREATE TABLE membership_log (org_id CHAR(36), revision INT, user_id CHAR(36), role VARCHAR(10), at DOUBLE,
       PRIMARY KEY (org_id, revision, user_id))`,
  );
  const now = storage.isServer ? 'UNIX_TIMESTAMP(SYSDATE(3)) * 1000' : "unixepoch('subsec') * 1000";
  const onEach = { INSERT: ['NEW', 'NEW.role'], UPDATE: ['NEW', 'NEW.role'], DELETE: ['OLD', 'NULL'] };
  for (const [event, [row, role]] of Object.entries(onEach)) {
    const log = `INSERT INTO membership_log (org_id, revision, user_id, role, at)
      SELECT ${row}.org_id, revision, ${row}.user_id, ${role}, ${now} FROM orgs WHERE id = ${row}.org_id;`;
    await storage.query(
      `CREATE TRIGGER log_${event} AFTER ${event} ON members FOR EACH ROW BEGIN ${log} END`,
    );
  }
}

/** In the order in which they took effect in each organization. */
async function readMembershipLog(storage: Storage): Promise<MembershipChange[]> {
  const rows = await storage.query('SELECT * FROM membership_log ORDER BY org_id, revision');
  return rows.map((row) => ({
    orgId: asString(row['org_id']),
    userId: asString(row['user_id']),
    role: (row['role'] ?? undefined) as Role | undefined,
    at: Number(row['at']),
  }));
}

/** How far the clock of the database may be from that of the clients. */
const CLOCKS_DIFFER_MS = 50;

/** The roles in an organization between two changes. */
interface Period {
  orgId: string;
  since: number;
  until: number;
  roles: ReadonlyMap<string, Role>;
}

/**
 * I11 and I12: every change was made by somebody whose role allowed it at the moment when it took effect, every
 * acknowledged write was such a change or had nothing to change, and none left an organization without an owner.
 */
function brokenAuthority(writes: readonly AuthoredWrite[], changes: readonly MembershipChange[]): string[] {
  const orgs = new Map<string, Map<string, Role>>();
  const authors = new Map<MembershipChange, AuthoredWrite[]>();
  const periods: Period[] = [];
  const broken: string[] = [];
  for (const [index, change] of changes.entries()) {
    const roles = orgs.get(change.orgId) ?? new Map<string, Role>();
    orgs.set(change.orgId, roles);
    authors.set(
      change,
      writes.filter((write) => canHaveMade(write, change) && isAllowed(write, roles)),
    );
    if (change.role) roles.set(change.userId, change.role);
    else roles.delete(change.userId);
    const next = changes[index + 1];
    const until = next?.orgId === change.orgId ? next.at : Infinity;
    periods.push({ orgId: change.orgId, since: change.at, until, roles: new Map(roles) });
    if (![...roles.values()].includes('owner')) broken.push(`I12: no owner after ${JSON.stringify(change)}`);
  }
  const hadNothingToChange = (write: AuthoredWrite): boolean =>
    write.kind === 'change' &&
    periods.some(
      ({ orgId, since, until, roles }) =>
        write.orgId === orgId &&
        roles.get(write.userId) === write.role &&
        isAllowed(write, roles) &&
        mayMeet(write, since, until),
    );
  const madeBy = (write: AuthoredWrite) => changes.filter((change) => authors.get(change)!.includes(write));
  return [
    ...broken,
    ...unmatched(changes, (change) => authors.get(change)!).map(
      (change) => `I11: nobody was allowed to make ${JSON.stringify(change)}`,
    ),
    ...unmatched(
      writes.filter((write) => isDone(write) && !hadNothingToChange(write)),
      madeBy,
    ).map((write) => `I11: acknowledged, and its actor was not allowed to do it: ${JSON.stringify(write)}`),
  ];
}

function canHaveMade(write: AuthoredWrite, { orgId, userId, role, at }: MembershipChange): boolean {
  return (
    mayBeDone(write) &&
    write.orgId === orgId &&
    write.userId === userId &&
    write.role === role &&
    mayMeet(write, at, at)
  );
}

/** @param since as `until`, of the database's clock */
function mayMeet({ startedAt, endedAt }: Answered, since: number, until: number): boolean {
  return (
    performance.timeOrigin + startedAt - CLOCKS_DIFFER_MS <= until &&
    performance.timeOrigin + endedAt + CLOCKS_DIFFER_MS >= since
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
