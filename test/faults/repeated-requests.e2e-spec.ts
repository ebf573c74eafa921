import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import type { Caller } from '../support/caller.js';
import { anEmail, anOrgWithTwoOwners, aPassword, type Cast } from '../support/personas.js';
import { asString, clientOf } from '../support/service-client.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { killDuring } from './support/kill-during.js';
import { GaleraService } from './support/galera-service.js';
import { Random, seedOfRun } from './support/random.js';
import { RestartableService, UNLIMITED } from './support/restartable-service.js';
import { ENGINES, Storage } from './support/storage.js';

const ROUNDS = 20;
const KILLS = 8;
const WORKERS = 4;

describe('on three Galera nodes that all write', () => {
  let galera: GaleraService;

  beforeAll(async () => {
    galera = await GaleraService.start({ env: UNLIMITED });
  });
  afterAll(() => galera.stop());
  afterEach(() => galera.cluster.waitUntilEqual());

  const on = (turn: number): Instance => galera.on(turn);
  const membersOf = ({ org }: Cast) => `/api/orgs/${org.id}/members`;

  const CASES: [string, (by: Caller, cast: Cast) => Promise<Answer>][] = [
    ['create an organization', (by) => by.post('/api/orgs', { name: 'Once' })],
    ['add a member', (by, cast) => by.post(membersOf(cast), { email: cast.outsider.email, role: 'member' })],
    ['change a member', (by, cast) => by.patch(`${membersOf(cast)}/${cast.member.id}`, { role: 'admin' })],
    ['leave', (by, cast) => by.delete(`${membersOf(cast)}/${cast.owner.id}`)],
  ];

  it.each(CASES)('equal requests with one key %s once, with equal answers', async (_name, send) => {
    let requests = 0;
    const wrong: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const cast = await anOrgWithTwoOwners(on(round));
      const by = (i: number) => cast.owner.at(on(i)).with({ 'idempotency-key': `round-${round}` });
      await galera.cluster.waitUntilEqual();
      const known = new Set(
        (await galera.installation.db.query('SELECT id FROM events')).map(({ id }) => id),
      );
      const answers = await atOnce(times(6, (i) => () => send(by(i), cast)));
      requests += answers.length;
      // Too many conflicts are a fault that says so; repeated, such a request has its answer.
      const final = await Promise.all(
        answers.map((answer, i) => (answer.status === 503 ? send(by(i), cast) : Promise.resolve(answer))),
      );
      const told = new Set(final.map(({ status, text }) => `${status} ${text}`));
      await galera.cluster.waitUntilEqual();
      const events = await galera.installation.db.query("SELECT id FROM events WHERE type LIKE 'member.%'");
      const made = events.filter(({ id }) => !known.has(id)).length;
      if (told.size !== 1 || final[0]!.status >= 300 || made !== 1) wrong.push([...told, made]);
    }
    report({ faults: ROUNDS, requests, wrong: wrong.length });
    expect(wrong).toEqual([]);
  });

  it('one of 20 writers wins for each revision', async () => {
    const cast = await anOrgWithTwoOwners(on(0));
    const path = `/api/orgs/${cast.org.id}`;
    const tagAt = async (i: number) => (await cast.owner.at(on(i)).get(path)).headers.get('etag')!;
    const wrong: unknown[] = [];
    let tag = await tagAt(0);
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await atOnce(
        times(
          20,
          (i) => () =>
            cast.owner
              .at(on(i))
              .with({ 'if-match': tag })
              .patch(`${membersOf(cast)}/${cast.member.id}`, { role: i % 2 ? 'admin' : 'member' }),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      const next = await tagAt(round);
      const isNext = next === `"${Number(tag.slice(1, -1)) + 1}"`;
      const isKnown = statuses.every((status) => [200, 412, 503].includes(status));
      if (statuses.filter((status) => status === 200).length !== 1 || !isNext || !isKnown)
        wrong.push([tag, next, ...statuses]);
      tag = next;
    }
    report({ faults: ROUNDS, requests: 20 * ROUNDS, wrong: wrong.length });
    expect(wrong).toEqual([]);
  });
});

interface Sent {
  key: string;
  name: string;
  /** undefined: not answered */
  orgId?: string;
}

describe.each(ENGINES)('kill -9 during changes with keys on %s', (engine) => {
  let storage: Storage;
  let service: RestartableService;

  afterEach(async () => {
    await service.kill();
    await storage.close();
  });

  it('leaves both the change and its key, or neither', { timeout: 180_000 }, async () => {
    const random = new Random(seedOfRun(`kill -9 with keys on ${engine}`));
    storage = await Storage.on(engine);
    service = await RestartableService.on(storage);
    const send = clientOf(service.url);
    await service.start();
    const credentials = { email: anEmail('client'), password: aPassword() };
    const registered = await send('POST', '/api/auth/register', { body: credentials });
    const token = asString(registered.body['token']);
    const create = ({ key, name }: Sent) =>
      send('POST', '/api/orgs', { token, body: { name }, headers: { 'idempotency-key': key } });

    const sent: Sent[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const work = times(WORKERS, () => async () => {
        const one: Sent = { key: randomUUID(), name: randomUUID() };
        sent.push(one);
        const { body } = await create(one);
        one.orgId = asString((body['org'] as { id: string }).id);
      });
      await killDuring(service, work, random.between(50, 500));
    }

    const orgs = await storage.query('SELECT id, name FROM orgs');
    const keys = await storage.query('SELECT body FROM idempotency_keys');
    const kept = keys.map(({ body }) => (JSON.parse(String(body)) as { org: { id: string } }).org.id);
    expect(kept.toSorted()).toEqual(orgs.map(({ id }) => String(id)).toSorted());

    const idOf = new Map(orgs.map(({ id, name }) => [String(name), String(id)]));
    let lost = 0;
    for (const one of sent) {
      const before = idOf.get(one.name);
      const again = asString(((await create(one)).body['org'] as { id: string }).id);
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
