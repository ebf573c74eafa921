import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import type { Caller } from '../support/caller.js';
import { anOrgWithTwoOwners, type Cast } from '../support/personas.js';
import { asRecord, asString } from '../support/service-client.js';
import { closeAfterAll, ENGINES, register, startOn, UNLIMITED } from './support/deployment.js';
import { report, expectRounds } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { killDuring } from './support/kill-during.js';
import { Random, seedOfRun } from './support/random.js';

const ROUNDS = 20;
const KILLS = 8;
const WORKERS = 4;

describe('on three Galera nodes that all write', async () => {
  const galera = await closeAfterAll(GaleraService.start({ env: UNLIMITED }));
  afterEach(() => galera.settle());

  const membersOf = ({ org }: Cast) => `/api/orgs/${org.id}/members`;

  it.each<[string, (by: Caller, cast: Cast) => Promise<Answer>]>([
    ['create an organization', (by) => by.post('/api/orgs', { name: 'Once' })],
    ['add a member', (by, cast) => by.post(membersOf(cast), { email: cast.outsider.email, role: 'member' })],
    ['change a member', (by, cast) => by.patch(`${membersOf(cast)}/${cast.member.id}`, { role: 'admin' })],
    ['leave', (by, cast) => by.delete(`${membersOf(cast)}/${cast.owner.id}`)],
  ])('equal requests with one key %s once, with equal answers', async (_name, send) => {
    await expectRounds([ROUNDS, 6], async (round, wrong) => {
      const cast = await anOrgWithTwoOwners(galera.on(round));
      const by = (i: number) => cast.owner.at(galera.on(i)).with({ 'idempotency-key': `round-${round}` });
      await galera.settle();
      const known = new Set((await galera.db.query('SELECT id FROM events')).map(({ id }) => id));
      const answers = await atOnce(times(6, (i) => () => send(by(i), cast)));
      // Too many conflicts are a fault that says so; repeated, such a request has its answer.
      const final = await Promise.all(
        answers.map(async (answer, i) => (answer.status === 503 ? send(by(i), cast) : answer)),
      );
      const told = new Set(final.map(({ status, text }) => `${status} ${text}`));
      await galera.settle();
      const events = await galera.db.query("SELECT id FROM events WHERE type LIKE 'member.%'");
      const made = events.filter(({ id }) => !known.has(id)).length;
      if (told.size !== 1 || final[0]!.status >= 300 || made !== 1) wrong.push([...told, made]);
    });
  });

  it('one of 20 writers wins for each revision', async () => {
    const cast = await anOrgWithTwoOwners(galera.on(0));
    const path = `/api/orgs/${cast.org.id}`;
    const ownerAt = (i: number) => cast.owner.at(galera.on(i));
    const tagAt = async (i: number) => (await ownerAt(i).get(path)).headers.get('etag')!;
    let tag = await tagAt(0);
    await expectRounds([ROUNDS, 20], async (round, wrong) => {
      const write = (i: number) =>
        ownerAt(i)
          .with({ 'if-match': tag })
          .patch(path, { name: `Round ${round}, writer ${i}` });
      const statuses = (await atOnce(times(20, (i) => () => write(i)))).map(({ status }) => status);
      const next = await tagAt(round);
      const isNext = next === `"${Number(tag.slice(1, -1)) + 1}"`;
      const isKnown = statuses.every((status) => [200, 412, 503].includes(status));
      if (statuses.filter((status) => status === 200).length !== 1 || !isNext || !isKnown)
        wrong.push([tag, next, ...statuses]);
      tag = next;
    });
  });
});

interface Sent {
  key: string;
  name: string;
  /** undefined: not answered */
  orgId?: string;
}

describe.each(ENGINES)('kill -9 during changes with keys on %s', (engine) => {
  it('leaves both the change and its key, or neither', { timeout: 180_000 }, async () => {
    const random = new Random(seedOfRun(`kill -9 with keys on ${engine}`));
    const { storage, service, send } = await startOn(engine);
    const { token } = await register(send);
    const idIn = (org: unknown): string => asString(asRecord(org)['id']);
    const create = async ({ key, name }: Sent): Promise<string> => {
      const headers = { 'idempotency-key': key };
      const { body } = await send('POST', '/api/orgs', { token, body: { name }, headers });
      return idIn(body['org']);
    };

    const sent: Sent[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const work = times(WORKERS, () => async () => {
        const one: Sent = { key: randomUUID(), name: randomUUID() };
        sent.push(one);
        one.orgId = await create(one);
      });
      await killDuring(service, work, random.between(50, 500));
    }

    const orgs = await storage.query('SELECT id, name FROM orgs');
    const keys = await storage.query('SELECT body FROM idempotency_keys');
    const kept = keys.map(({ body }) => idIn(asRecord(JSON.parse(String(body)))['org']));
    expect(kept.toSorted()).toEqual(orgs.map(({ id }) => String(id)).toSorted());

    const idOf = new Map(orgs.map(({ id, name }) => [String(name), String(id)]));
    let lost = 0;
    for (const one of sent) {
      const before = idOf.get(one.name);
      const again = await create(one);
      if ((one.orgId ?? before) !== before || again !== (before ?? again)) lost += 1;
    }
    const acknowledged = sent.filter(({ orgId }) => orgId !== undefined).length;
    report({ faults: KILLS, requests: 2 * sent.length, wrong: 0, acknowledged, lost });
    expect(lost).toBe(0);
    expect(acknowledged).toBeGreaterThan(KILLS);
    const names = (await storage.query('SELECT name FROM orgs')).map(({ name }) => name);
    expect(names).toHaveLength(new Set(sent.map(({ name }) => name)).size);
    expect(new Set(names).size).toBe(names.length);
  });
});
