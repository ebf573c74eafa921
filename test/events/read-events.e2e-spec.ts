import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { aheadBy } from '../support/clock.js';
import { engine } from '../support/engine.js';
import {
  insufficientRole,
  invalidFields,
  notAMember,
  stepUpRequired,
  unauthorized,
} from '../support/expected.js';
import { changeRole } from '../support/org-members.js';
import { type Account, anOrg, anOrgWithTwoOwners, byCode, type Cast } from '../support/personas.js';
import { startCluster, startService } from '../support/service.js';

interface Page {
  events: (Record<string, unknown> & { type: string; data: object; orgRevision: number })[];
  nextCursor?: string;
}

const service = await startService();
afterAll(() => service.stop());

describe('reading the record', () => {
  let cast: Cast;

  beforeEach(async () => {
    cast = await anOrg(service);
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

  it('is closed to members, outsiders and strangers', async () => {
    expect(await ofOrg(cast.member)).toMatchObject(insufficientRole('admin', 'member'));
    expect(await ofOrg(cast.outsider)).toMatchObject(notAMember);
    for (const path of [`/api/orgs/${cast.org.id}/events`, '/api/me/events']) {
      expect(await service.anyone.get(path)).toMatchObject(unauthorized);
    }
  });

  it.each(['', '&type=member.added', '&type=org.created'])(
    'comes in pages that miss nothing%s',
    async (filter) => {
      const whole = (await ofOrg(cast.owner, `?limit=1000${filter}`)).body.events;
      const read: unknown[] = [];
      let cursor = '';
      do {
        const { body, headers } = await ofOrg(cast.owner, `?limit=1${filter}${cursor}`);
        expect(body.events.length).toBeLessThanOrEqual(1);
        read.push(...body.events);
        cursor = body.nextCursor === undefined ? '' : `&cursor=${body.nextCursor}`;
        expect(headers.get('link') ?? '').toContain(cursor);
      } while (cursor !== '');
      expect(read).toEqual(whole);
      expect(whole.length).toBeGreaterThan(0);
    },
  );

  it('can be asked for one user, of whom another organization knows nothing', async () => {
    const other = await anOrg(service);
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
    await service.anyone.post('/api/auth/login', { email, password });
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

  it('does not tell a member from where an admin acted', async () => {
    const { body } = await own(cast.member, '?type=member.added');
    expect(body.events).toMatchObject([
      { actor: { type: 'user', id: cast.owner.id, sessionId: null }, ip: null, requestId: null },
    ]);
  });

  it('needs a login by password for what is about oneself', async () => {
    const passedOn = await byCode(service, cast.member);
    expect(await own(passedOn)).toMatchObject(stepUpRequired);
    expect((await passedOn.get('/api/me')).status).toBe(200);
  });

  it('examines as many of 10,000 events as five pages have for a filter by type, and goes on from there', async () => {
    const COUNT = 10_000;
    const PAGES = 5;
    const newest = String((await ofOrg(cast.owner)).body.events[0]!['id']);
    const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS n`).join(' UNION ALL ');
    await service.db.query(
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

    const found: Page['events'] = [];
    let requests = 0;
    for (let cursor: string | undefined = ''; cursor !== undefined; requests += 1) {
      const query = `?limit=1000&type=org.created${cursor && `&cursor=${cursor}`}`;
      const { body } = await ofOrg(cast.owner, query);
      found.push(...body.events);
      cursor = body.nextCursor;
    }
    expect(found.map(({ type }) => type)).toEqual(['org.created']);
    expect(requests).toBe(COUNT / (PAGES * 1000) + 1);
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
