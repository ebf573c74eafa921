import { afterAll, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import {
  insufficientScope,
  invalidClient,
  invalidFields,
  rateLimited,
  cursorExpired,
} from '../support/expected.js';
import { readFeed, readFeedAfter, writeEvents } from '../support/feed.js';
import { appCode, enrol, protect, SECOND_FACTOR } from '../support/second-factor.js';
import { changeRole, removeMember } from '../support/org-members.js';
import { keptAliveRequest, openConnection } from '../support/connections.js';
import { anOperator } from '../support/operators.js';
import { anAccount, anOrg, anOrgOf, anUnknownId } from '../support/personas.js';
import { decodeToken } from '../support/signing-keys.js';
import { startServiceWithoutLimits } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';

const MAX_WAITING = 20;

const service = await startServiceWithoutLimits();
const billing = await aServiceCaller(service, 'events');
const owner = await anAccount(service);
afterAll(() => service.stop());

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
    expect(recorded.map(({ data }) => (JSON.parse(String(data)) as { reason: string }).reason)).toEqual([
      'second_factor_enabled',
      'second_factor_removed',
      'revoked',
      'second_factor_removed',
      'operator',
    ]);
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
    const cursor = await now();
    const held = readFeed(billing, { after: cursor, wait: 15 });
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
    expect(await owner.get('/api/events')).toMatchObject(invalidClient);
    expect(await service.anyone.get('/api/events')).toMatchObject(invalidClient);
  });
});
