import * as fc from 'fast-check';
import { atOnce, times } from '../../support/at-once.js';
import type { AuthoredWrite } from './authority.js';
import type { CodeUse, OrgRead } from './invariants.js';
import type { Role } from './reference-model.js';
import { timed, type TimedReply } from './timed-request.js';
import { asRecord, asString, type RequestOptions, type Send } from '../../support/service-client.js';

export type StormAction =
  | { kind: 'read'; actor: number; org: number }
  | { kind: 'add'; actor: number; org: number; target: number; role: 'member' | 'admin' }
  | { kind: 'change'; actor: number; org: number; target: number; role: Role }
  | { kind: 'remove'; actor: number; org: number; target: number }
  | { kind: 'exchange'; actor: number; uses: number };

/** Batches of requests that are sent at once; the seed of fast-check repeats them (not their interleaving). */
export function stormBatches(batches: number, width: number): fc.Arbitrary<StormAction[][]> {
  const pick = fc.nat({ max: 1000 });
  const [where, whom] = [
    { actor: pick, org: pick },
    { actor: pick, org: pick, target: pick },
  ];
  const low = fc.constantFrom('member' as const, 'admin' as const, 'admin' as const);
  const any = fc.constantFrom('member' as const, 'admin' as const, 'admin' as const, 'owner' as const);
  const read = fc.record({ kind: fc.constant('read' as const), ...where });
  const add = fc.record({ kind: fc.constant('add' as const), ...whom, role: low });
  const change = fc.record({ kind: fc.constant('change' as const), ...whom, role: any });
  const remove = fc.record({ kind: fc.constant('remove' as const), ...whom });
  const exchange = fc.record({ kind: fc.constant('exchange' as const), actor: pick, uses: fc.constant(5) });
  const action: fc.Arbitrary<StormAction> = fc.oneof(
    { weight: 3, arbitrary: read },
    { weight: 6, arbitrary: add },
    { weight: 6, arbitrary: change },
    { weight: 6, arbitrary: remove },
    { weight: 1, arbitrary: exchange },
  );
  const batch = fc.array(action, { minLength: width, maxLength: width });
  return fc.array(batch, { minLength: batches, maxLength: batches });
}

interface Person {
  id: string;
  email: string;
  token: string;
}

/** Several people in a few organizations who change memberships at once; keeps what the invariants need. */
export class MembershipStorm {
  readonly writes: AuthoredWrite[] = [];
  readonly reads: OrgRead[] = [];
  readonly uses: CodeUse[] = [];
  private readonly people: Person[] = [];
  private readonly orgIds: string[] = [];

  constructor(private readonly send: Send) {}

  /** Every organization begins with two owners. To be called before any fault: it needs every answer. */
  async prepare(run: string, people = 5, orgs = 2): Promise<void> {
    for (let index = 0; index < people; index += 1) {
      const email = `storm${index}.${run}@example.com`;
      const body = { email, password: 'correct horse battery staple' };
      const { body: answer } = await this.send('POST', '/api/auth/register', { body });
      const id = asString(asRecord(answer['user'])['id']);
      this.people.push({ id, email, token: asString(answer['token']) });
    }
    for (let index = 0; index < orgs; index += 1) {
      const owner = this.person(index);
      const { reply, answered } = await this.timed('POST', '/api/orgs', {
        token: owner.token,
        body: { name: 'Storm' },
      });
      this.orgIds.push(asString(asRecord(reply?.body['org'])['id']));
      const created = { orgId: this.org(index), actorId: owner.id, userId: owner.id, role: 'owner' as const };
      this.writes.push({ kind: 'create', ...created, ...answered });
      await this.act({ kind: 'add', actor: index, org: index, target: index + 1, role: 'admin' });
      await this.act({ kind: 'change', actor: index, org: index, target: index + 1, role: 'owner' });
    }
  }

  hasOrg(orgId: string): boolean {
    return this.orgIds.includes(orgId);
  }

  async run(batches: readonly (readonly StormAction[])[]): Promise<void> {
    for (const batch of batches) await atOnce(batch.map((action) => () => this.act(action)));
  }

  private async act(action: StormAction): Promise<void> {
    const { token, id } = this.person(action.actor);
    if (action.kind === 'exchange') return this.exchange(token, action.uses);

    const orgId = this.org(action.org);
    const path = `/api/orgs/${orgId}`;
    if (action.kind === 'read') {
      const { answered } = await this.timed('GET', path, { token });
      this.reads.push({ orgId, userId: id, ...answered });
      return;
    }
    const target = this.person(action.target);
    const role = action.kind === 'remove' ? undefined : action.role;
    const { answered } =
      action.kind === 'add'
        ? await this.timed('POST', `${path}/members`, { token, body: { email: target.email, role } })
        : action.kind === 'change'
          ? await this.timed('PATCH', `${path}/members/${target.id}`, { token, body: { role } })
          : await this.timed('DELETE', `${path}/members/${target.id}`, { token });
    const write = { kind: action.kind, orgId, actorId: id, userId: target.id, role };
    this.writes.push({ ...write, ...answered });
  }

  private async exchange(token: string, uses: number): Promise<void> {
    const issued = await this.timed('POST', '/api/auth/code', { token });
    if (issued.reply?.status !== 201) return;
    const code = asString(issued.reply.body['code']);
    const use = async (): Promise<void> => {
      const { answered } = await this.timed('POST', '/api/auth/code/exchange', { body: { code } });
      this.uses.push({ ...answered, code });
    };
    await atOnce(times(uses, () => use));
  }

  private timed(method: string, path: string, options: RequestOptions): Promise<TimedReply> {
    return timed(this.send, method, path, options);
  }

  private person(pick: number): Person {
    return at(this.people, pick);
  }

  private org(pick: number): string {
    return at(this.orgIds, pick);
  }
}

function at<T>(items: readonly T[], pick: number): T {
  const item = items[pick % items.length];
  if (item === undefined) throw new Error('the storm is not prepared');
  return item;
}
