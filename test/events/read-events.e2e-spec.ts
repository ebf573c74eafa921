import { pagesOf } from '../support/pages.js';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { aheadBy } from '../support/clock.js';
import { engine } from '../support/engine.js';
import {
  cursorExpired,
  insufficientScope,
  invalidCode,
  invalidFields,
  rateLimited,
} from '../support/expected.js';
import { changeRole, removeMember } from '../support/org-members.js';
import type { Account, Cast } from '../support/personas.js';
import {
  aCode,
  anAccount,
  anOrg,
  anOrgOf,
  anOrgWithTwoOwners,
  anUnknownId,
  exchange,
} from '../support/personas.js';
import { NO_LIMITS, startCluster, startOwnService, startService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { readFeed, readFeedAfter, writeEvents } from '../support/feed.js';
import { appCode, enrol, protect, SECOND_FACTOR } from '../support/second-factor.js';
import { keptAliveRequest, openConnection } from '../support/connections.js';
import { anOperator } from '../support/operators.js';
import { decodeToken } from '../support/signing-keys.js';
import { aServiceCaller } from '../support/services.js';

interface Page {
  events: (Record<string, unknown> & { type: string; data: object; orgRevision: number })[];
  nextCursor?: string;
}

/** Of its own: what others have left may write events at any time. */
const service = await startOwnService({ env: NO_LIMITS });
afterAll(() => service.stop());

/** Its events are of no form that a reader of the feed may see. */
const reading = await startService();

describe('reading the record', () => {
  let cast: Cast;

  beforeEach(async () => {
    cast = await anOrg(reading);
  });

  const ofOrg = (by: Account, query = '') => by.get<Page>(`/api/orgs/${cast.org.id}/events${query}`);
  const own = (by: Account, query = '') => by.get<Page>(`/api/me/events${query}`);

  it('shows admins what happened in their organization, the latest first', async () => {
    const { body, status } = await ofOrg(cast.admin);
    expect(status).toBe(200);
    expect(body.events.map(({ type, orgRevision, userId }) => [type, orgRevision, userId])).toEqual([
      ['member.added', 3, cast.member.id],
      ['member.added', 2, cast.admin.id],
      ['member.added', 1, cast.owner.id],
      ['org.created', 1, null],
    ]);
    expect(body.events[0]).toEqual({
      id: expect.any(String) as string,
      type: 'member.added',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      actor: { type: 'user', id: cast.owner.id },
      orgId: cast.org.id,
      orgRevision: 3,
      userId: cast.member.id,
      data: { role: 'member', via: 'added' },
    });
    expect(body).not.toHaveProperty('nextCursor');
  });

  it.each(['', '&type=member.added', '&type=org.created'])(
    'comes in pages that miss nothing%s',
    async (filter) => {
      const whole = (await ofOrg(cast.owner, `?limit=1000${filter}`)).body.events;
      const pages = await pagesOf(cast.owner, `/api/orgs/${cast.org.id}/events?limit=1${filter}`, 'events');
      for (const page of pages) expect(page.length).toBeLessThanOrEqual(1);
      expect(pages.flat()).toEqual(whole);
      expect(whole.length).toBeGreaterThan(0);
    },
  );

  it('can be asked for one user, of whom another organization knows nothing', async () => {
    const other = await anOrg(reading);
    const about = async (id: string) => (await ofOrg(cast.owner, `?userId=${id}`)).body.events;
    expect((await about(cast.admin.id)).map(({ type }) => type)).toEqual(['member.added']);
    expect(await about(other.admin.id)).toEqual([]);
  });

  it.each('limit=0 limit=1001 limit=x type=member.exploded type= cursor=x cursor= userId=x'.split(' '))(
    'refuses ?%s',
    async (query) => {
      expect(await ofOrg(cast.owner, `?${query}`)).toMatchObject(invalidFields(query.split('=')[0]!));
    },
  );

  it('shows a person what happened to himself, and whence he acted', async () => {
    const { email, password } = cast.member;
    await reading.anyone.post('/api/auth/login', { email, password });
    const { body } = await own(cast.member);
    expect(body.events.map(({ type, data }) => [type, data])).toEqual([
      ['session.started', { via: 'login' }],
      ['member.added', { role: 'member', via: 'added' }],
      ['session.started', { via: 'register' }],
      ['account.registered', {}],
    ]);
    expect(body.events[0]).toEqual({
      id: expect.any(String) as string,
      type: 'session.started',
      at: expect.any(String) as string,
      actor: { type: 'user', id: cast.member.id, sessionId: body.events[0]!['sessionId'] },
      orgId: null,
      orgRevision: null,
      userId: cast.member.id,
      userRevision: null,
      sessionId: expect.any(String) as string,
      ip: '127.0.0.1',
      requestId: expect.any(String) as string,
      data: { via: 'login' },
    });
  });

  it('shows a user from where a used code was sent again, although the system ended the session', async () => {
    const code = await aCode(cast.member);
    expect((await exchange(reading, code)).status).toBe(200);
    const thief = {
      anyone: reading.anyone.with({ 'x-forwarded-for': '203.0.113.7', 'x-request-id': 'of-the-thief' }),
    };
    expect(await exchange(thief, code)).toMatchObject(invalidCode);
    const ended = async () => (await own(cast.member, '?type=session.ended')).body.events;
    expect(
      await waitFor('the end of the session', hangTimeoutMs(), async () => (await ended())[0]),
    ).toMatchObject({
      actor: { type: 'system', id: null },
      data: { reason: 'code_reused' },
      ip: '203.0.113.7',
      requestId: 'of-the-thief',
    });
  });

  it('does not tell a member from where an admin acted', async () => {
    const { body } = await own(cast.member, '?type=member.added');
    expect(body.events).toMatchObject([
      { actor: { type: 'user', id: cast.owner.id, sessionId: null }, ip: null, requestId: null },
    ]);
  });

  it('examines as many of 10,000 events as five pages have for a filter by type, and goes on from there', async () => {
    const COUNT = 10_000;
    const PAGES = 5;
    const newest = String((await ofOrg(cast.owner)).body.events[0]!['id']);
    const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS n`).join(' UNION ALL ');
    await reading.db.query(
      `INSERT INTO events (id, type, at, actor_type, org_id, org_revision, user_id, data)
          WITH d AS (${digits}),
            numbers AS (SELECT a.n * 1000 + b.n * 100 + c.n * 10 + e.n AS n
              FROM d a CROSS JOIN d b CROSS JOIN d c CROSS JOIN d e)
          SELECT CONCAT(?, SUBSTR(CONCAT('00000000000', n), -12)), 'member.role_changed', 1, 'system', ?, 10 + n, ?, '{}'
          FROM numbers`,
      [newest.slice(0, 24), cast.org.id, cast.owner.id],
    );
    const page = (await ofOrg(cast.owner, '?limit=20&type=org.created')).body;
    expect(page.events).toEqual([]);
    const [next] = (await ofOrg(cast.owner, `?limit=1&cursor=${page.nextCursor!}`)).body.events;
    expect(next!.orgRevision).toBe(10 + COUNT - 1 - PAGES * 20);

    const mine = (await own(cast.owner, '?limit=20&type=account.registered')).body;
    expect(mine.events).toEqual([]);
    const [after] = (await own(cast.owner, `?limit=1&cursor=${mine.nextCursor!}`)).body.events;
    const examined = (await own(cast.owner, '?limit=1000')).body.events;
    expect(examined.findIndex(({ id }) => id === after!['id'])).toBe(PAGES * 20);

    const created = `/api/orgs/${cast.org.id}/events?limit=1000&type=org.created`;
    const pages = await pagesOf<Page['events'][number]>(cast.owner, created, 'events');
    expect(pages.flat().map(({ type }) => type)).toEqual(['org.created']);
    expect(pages).toHaveLength(COUNT / (PAGES * 1000) + 1);
  });
});

/** Two instances whose clocks differ. */
it.runIf(engine === 'mariadb')('the record is in the order in which the organization changed', async () => {
  const cluster = await startCluster(2, { envs: [{}, { NODE_OPTIONS: aheadBy(600_000) }] });
  const [here, there] = cluster.instances;
  const { org, owner, coOwner, member } = await anOrgWithTwoOwners(here!);
  const expected: string[] = [];
  for (let change = 0; change < 200; change += 1) {
    const [by, role] = change % 2 === 0 ? [owner, 'admin'] : [coOwner.at(there!), 'member'];
    const { status, text } = await changeRole(by, org, member, role);
    expect(status, text).toBe(200);
    expected.push(role);
  }
  const { body } = await owner.get<{ events: { at: string; data: { to: string } }[] }>(
    `/api/orgs/${org.id}/events?type=member.role_changed&userId=${member.id}&limit=1000`,
  );
  const inOrder = body.events.toReversed();
  expect(inOrder.map(({ data }) => data.to)).toEqual(expected);
  // Or the clocks were one, and the test would hold by them.
  const [first, second, third] = inOrder.map(({ at }) => Date.parse(at));
  expect(second! - first!).toBeGreaterThan(500_000);
  expect(third! - second!).toBeLessThan(-500_000);
  await cluster.stop();
});

const MAX_WAITING = 20;

const billing = await aServiceCaller(service, 'events');
const owner = await anAccount(service);

describe('GET /api/events', () => {
  const now = async (): Promise<string> => (await readFeed(billing)).next;

  it('answers without a cursor that of now, from which a reader hears of every later change in order', async () => {
    const { events, next } = await readFeed(billing, { wait: 15, limit: 1 });
    expect(events).toEqual([]);
    const { org, owner: admin, member } = await anOrg(service);
    await changeRole(admin, org, member, 'admin');
    await removeMember(admin, org, member);
    const all = await readFeedAfter(billing, next);
    const ofOrg = all.filter(({ orgId }) => orgId === org.id);
    expect(ofOrg.map(({ type, orgRevision }) => [type, orgRevision])).toEqual([
      ['org.created', 1],
      ['member.added', 1],
      ['member.added', 2],
      ['member.added', 3],
      ['member.role_changed', 4],
      ['member.removed', 5],
    ]);
    expect(all.map(({ type }) => type)).toContain('account.registered');
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  it('tells what has changed, and not from where, why, and by which session or operator', async () => {
    const cursor = await now();
    const org = await anOrgOf(owner);
    const [byOperator] = await writeEvents(service.db, [
      { type: 'account.disabled', actorType: 'operator', actorId: 'root', userId: owner.id, userRevision: 7 },
    ]);

    const { events } = await readFeed(billing, { after: cursor });
    const text = expect.any(String) as string;
    const ids = { orgId: null, orgRevision: null, userId: null, userRevision: null, sessionId: null };
    const some = { ...ids, id: text, at: text };
    expect(events.find(({ type }) => type === 'org.created')).toEqual({
      ...some,
      type: 'org.created',
      actor: { type: 'user', id: owner.id },
      orgId: org.id,
      orgRevision: 1,
      data: {},
    });
    expect(events.find(({ id }) => id === byOperator)).toEqual({
      ...some,
      type: 'account.disabled',
      actor: { type: 'operator', id: null },
      userId: owner.id,
      userRevision: 7,
      data: {},
    });
    expect(JSON.stringify(events)).not.toMatch(/198\.51\.100\.7|a-request|a reason|root/);
  });

  it('leaves out what is internal and what is about other services, and goes on behind it', async () => {
    const cursor = await now();
    const ids = await writeEvents(service.db, [
      { type: 'keys.rotated' },
      { type: 'service.allowed', data: { service: billing.name, from: 'none', to: 'events' } },
      { type: 'account.reset_code_issued', userId: owner.id },
      { type: 'service.allowed', data: { service: 'another', from: 'none', to: 'events' } },
      { type: 'account.recovery_code_used', userId: owner.id },
      { type: 'account.second_factor_enabled', userId: owner.id },
    ]);
    const page = await readFeed(billing, { after: cursor, limit: 2 });
    expect(page).toMatchObject({ events: [{ id: ids[1] }], next: ids.at(-1) });
    expect(await readFeed(billing, { after: page.next })).toEqual({ events: [], next: page.next });
  });

  it('gives the end of sessions by a second factor the reason of any end by the same actor', async () => {
    const [ada, operator] = [await anAccount(service, 'ada'), await anOperator(service)];
    const cursor = await now();
    const { secret } = await enrol(ada);
    const removal = { password: ada.password, code: appCode(secret, 1) };
    expect((await ada.post(`${SECOND_FACTOR}/remove`, removal)).status).toBe(200);
    expect((await ada.delete('/api/me/sessions')).status).toBe(200);
    await protect(service, ada);
    for (const operation of ['remove-second-factor', 'end-sessions'])
      await operator.post(`/api/operators/users/${ada.id}/${operation}`, { reason: 'a test' });
    const told = (await readFeedAfter(billing, cursor)).filter(({ userId }) => userId === ada.id);
    const { sid } = decodeToken(ada.token).claims;
    const byUser = { by: 'user', data: { reason: 'revoked', all: true, except: sid } };
    const byOperator = { by: 'operator', data: { reason: 'operator', all: true } };
    const expected = [byUser, byUser, byUser, byOperator, byOperator];
    expect(told.map(({ actor, data }) => ({ by: actor.type, data }))).toMatchObject(expected);
    const recorded = await service.db.query(
      "SELECT data FROM events WHERE user_id = ? AND type = 'session.ended' ORDER BY id",
      [ada.id],
    );
    expect(recorded.map(({ data }) => (JSON.parse(String(data)) as { reason: string }).reason)).toEqual(
      'second_factor_enabled second_factor_removed revoked second_factor_removed operator'.split(' '),
    );
  });

  it('answers pages of any size, each with the cursor of the next', async () => {
    const cursor = await now();
    const ids = await writeEvents(
      service.db,
      Array.from({ length: 7 }, (_, place) => ({ orgId: owner.id, orgRevision: place + 1 })),
    );
    const first = await readFeed(billing, { after: cursor, limit: 3 });
    expect(first.events.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect(first.next).toBe(ids[2]);
    expect((await readFeedAfter(billing, first.next, 2)).map(({ id }) => id)).toEqual(ids.slice(3));
    expect((await readFeedAfter(billing, ids[5]!)).map(({ id }) => id)).toEqual([ids[6]]);
  });

  it('begins with the oldest event that is kept, after start', async () => {
    const [oldest] = await service.db.query(
      'SELECT e.id FROM feed f JOIN events e ON e.id = f.event_id ORDER BY f.seq LIMIT 1',
    );
    expect(await readFeed(billing, { after: 'start', limit: 1 })).toMatchObject({
      events: [{ id: oldest!['id'] }],
      next: oldest!['id'],
    });
  });

  it('holds the answer until there is an event for the reader', async () => {
    const held = readFeed(billing, { after: await now(), wait: 15 });
    await writeEvents(service.db, [{ type: 'keys.rotated' }]);
    const org = await anOrgOf(owner);
    expect((await held).events).toEqual(expect.arrayContaining([expect.objectContaining({ orgId: org.id })]));
  });

  it('ends a wait for nothing with the cursor that it began with', async () => {
    const cursor = await now();
    expect(await readFeed(billing, { after: cursor, wait: 1 })).toEqual({ events: [], next: cursor });
  });

  it('lets 20 requests of a service wait, each until its client leaves', async () => {
    const cursor = await now();
    const reader = await aServiceCaller(service, 'events');
    const after = await now();
    const waiting = await Promise.all(
      Array.from({ length: MAX_WAITING + 1 }, async () => {
        const connection = await openConnection(service.url);
        const head = [`Authorization: ${reader.client.authorization}`];
        connection.socket.write(keptAliveRequest(`GET /api/events?after=${after}&wait=15`, head));
        return connection;
      }),
    );
    const answered = () => waiting.flatMap(({ statuses }) => statuses());
    await waitFor('one is refused', hangTimeoutMs(), () => answered().length > 0);
    const another = () => reader.get(`/api/events?after=${after}&wait=1`);
    const refused = await another();
    expect(refused).toMatchObject(rateLimited);
    expect(refused.headers.get('Retry-After')).toBe('1');
    expect((await reader.get(`/api/events?after=${after}`)).status).toBe(200);
    expect((await billing.get(`/api/events?after=${cursor}&wait=1`)).status).toBe(200);
    expect(answered()).toEqual([429]);
    for (const { socket } of waiting) socket.destroy();
    await waitFor('they have left', hangTimeoutMs(), async () => (await another()).status === 200);
  });

  it('refuses a cursor that is no event of the feed', async () => {
    for (const wait of [0, 15]) {
      const answer = await billing.get(`/api/events?after=${anUnknownId()}&wait=${wait}`);
      expect(answer).toMatchObject(cursorExpired);
    }
  });

  it.each('after=now after= after=start&after=start wait=16 wait=-1 wait=1.5 limit=0 limit=1001'.split(' '))(
    'refuses ?%s',
    async (query) => {
      expect(await billing.get(`/api/events?${query}`)).toMatchObject(invalidFields(query.split('=')[0]!));
    },
  );

  it('refuses a parameter that it does not take, since `cursor` for `after` would miss everything', async () => {
    for (const query of ['cursor=start', 'after=start&After=start', 'x'])
      expect(await billing.get(`/api/events?${query}`)).toMatchObject(invalidFields('query'));
  });

  it('is for services that are allowed it', async () => {
    const other = await aServiceCaller(service, 'introspect', 'memberships');
    expect(await other.get('/api/events')).toMatchObject(insufficientScope('events'));
  });
});
