import { pagesOf } from '../support/pages.js';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { invalidFields, orgNotFound, serviceNotFound, userNotFound } from '../support/expected.js';
import { insertColumns } from '../support/rows.js';
import { anOperator } from '../support/operators.js';
import { aCode, anAccount, anOrg, anOrgOf, anUnknownId, theNextMillisecond } from '../support/personas.js';
import { aServiceClient } from '../support/services.js';
import { startService } from '../support/service.js';

const BELOW = '/api/operators';
const ROWS = 1200;
const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) as string;

type Row = Record<string, unknown>;
type Page = Record<string, Row[]> & { nextCursor?: string };

const service = await startService();
const [operator, cast] = [await anOperator(service), await anOrg(service)];

describe('what operators look up', () => {
  const get = (path: string) => operator.get<Page>(BELOW + path);
  const one = async (path: string, name: string): Promise<Row> =>
    ((await get(path)).body as unknown as Record<string, Row>)[name]!;

  const walk = async (
    path: string,
    list: string,
    between?: (page: number) => Promise<unknown>,
  ): Promise<Row[]> => (await pagesOf<Row>(operator, BELOW + path, list, between)).flat();

  const tagged = (): string => `t${randomBytes(6).toString('hex')}`;
  const addUsers = (emails: string[]) =>
    insertColumns(
      service.db,
      'users',
      'id, email, password_hash, created_at',
      emails.map((email) => [anUnknownId(), email, 'the hash', 1]),
    );
  const setDisabled = (email: string) =>
    service.db.query('UPDATE users SET disabled_at = 1, disabled_email = email WHERE email = ?', [email]);

  describe('users', () => {
    it('are shown with what operators need to know, and no more', async () => {
      const ada = await anAccount(service, 'ada');
      const profile = { name: 'Ada Lovelace', avatarUrl: null, locale: 'en-GB' };
      await ada.patch('/api/me/profile', profile);
      await service.db.query('UPDATE users SET second_factor_at = 5, password_changed_at = 7 WHERE id = ?', [
        ada.id,
      ]);
      const summary = {
        id: ada.id,
        email: ada.email,
        emailVerified: false,
        createdAt: aTime,
        disabledAt: null,
        operator: false,
        secondFactor: true,
      };
      const passwordChangedAt = '1970-01-01T00:00:00.007Z';
      const failedLogins = { count: 0, lastAt: null, lastIp: null };
      const limits = { loginLimits: [], loginLimitsOf: 'instance' };
      const details = { ...profile, passwordChangedAt, failedLogins, ...limits };
      const { lastLoginAt, ...shown } = await one(`/users/${ada.id}`, 'user');
      expect(shown).toEqual({ ...summary, ...details });
      expect([null, aTime]).toContainEqual(lastLoginAt);
      const found = async (query: string) => (await get(`/users?search=${ada.email}${query}`)).body['users'];
      expect(await found('')).toEqual([summary]);
      expect(await found('&include=profile')).toEqual([{ ...summary, ...profile }]);
      expect(await found('&include=profile&status=disabled')).toEqual([]);
      expect(await get('/users?include=roles')).toMatchObject(invalidFields('include'));
      expect(await one(`/users/${operator.id}`, 'user')).toMatchObject({ operator: true });
      for (const id of [anUnknownId(), 'x', '%25'])
        for (const list of ['', '/sessions', '/orgs'])
          expect(await get(`/users/${id}${list}`)).toMatchObject(userNotFound);
    });

    it('come in pages by e-mail, which lose and repeat nobody while others come and go', async () => {
      const tag = tagged();
      const stay = [1, 2, 3, 4, 5, 6].map((n) => `${tag}-${n}@example.com`);
      const leave = stay.map((email) => email.replace('@', 'x@'));
      await addUsers([...stay, ...leave]);
      const found = await walk(`/users?search=${tag.toUpperCase()}&limit=3`, 'users', async (page) => {
        await service.db.query('DELETE FROM users WHERE email = ?', [leave[page * 2 + 1]!]);
        await addUsers([`${tag}-0${page}@example.com`]);
      });
      const emails = found.map(({ email }) => String(email));
      expect(emails).toEqual(emails.toSorted((a, b) => (a < b ? -1 : 1)));
      expect(new Set(emails).size).toBe(emails.length);
      expect(emails).toEqual(expect.arrayContaining(stay));
    });

    it('can be asked for by status, of which few among many are found at once', async () => {
      const tag = tagged();
      const emails = Array.from(
        { length: ROWS },
        (_, n) => `${tag}${String(n).padStart(5, '0')}@example.com`,
      );
      await addUsers(emails);
      const disabled = [emails[700]!, emails[1100]!];
      for (const email of disabled) await setDisabled(email);
      const at = (query: string) => `/users?search=${tag}&${query}`;
      const first = (await get(at('status=disabled&limit=1'))).body;
      expect(first['users']).toEqual([expect.objectContaining({ email: disabled[0], disabledAt: aTime })]);
      const all = await walk(at('status=disabled&limit=1'), 'users');
      expect(all.map(({ email }) => email)).toEqual(disabled);
      const active = await walk(at('status=active&limit=500'), 'users');
      expect(active).toHaveLength(ROWS - 2);
      expect(active.every(({ disabledAt }) => disabledAt === null)).toBe(true);
    });

    it.each(['%', '_', '\\', "'", '!', '*', 'é', '\u200b', 'x'.repeat(254)])(
      'are found by the letters of %j, which mean nothing else',
      async (letters) => {
        const tag = tagged();
        await addUsers([`${tag}a@example.com`]);
        const { status, body } = await get(
          `/users?search=${encodeURIComponent(`${tag}${letters}`.slice(0, 254))}`,
        );
        expect([status, body['users']]).toEqual([200, []]);
      },
    );

    it('are found by signs that are part of an e-mail', async () => {
      const tag = tagged();
      await addUsers([`${tag}%_!a@example.com`, `${tag}%xa@example.com`, `${tag}%_b@example.com`]);
      const found = await walk(`/users?search=${encodeURIComponent(`${tag}%_`)}`, 'users');
      expect(found.map(({ email }) => email)).toEqual([`${tag}%_!a@example.com`, `${tag}%_b@example.com`]);
    });

    it('have sessions, of which the live ones are listed, without a secret', async () => {
      const ada = await anAccount(service, 'ada');
      await service.anyone.post('/api/auth/code/exchange', { code: await aCode(ada) });
      const { email, password } = ada;
      const login = await service.anyone.post<{ token: string }>('/api/auth/login', { email, password });
      await ada.as(login.body.token).post('/api/auth/logout');
      const { body } = await get(`/users/${ada.id}/sessions`);
      expect(body['sessions']!.map(({ via }) => via)).toEqual(['code', 'password']);
      expect(body['sessions']![1]).toEqual({
        id: expect.any(String) as string,
        via: 'password',
        createdAt: aTime,
        lastUsedAt: aTime,
        expiresAt: aTime,
        ip: '127.0.0.1',
        userAgent: null,
        deviceName: null,
        service: null,
      });
    });

    it('have organizations, with roles, deleted ones too', async () => {
      const [kept, deleted] = [await anOrgOf(cast.outsider, 'Kept'), await anOrgOf(cast.outsider, 'Deleted')];
      await cast.outsider.delete(`/api/orgs/${deleted.id}`);
      expect(await walk(`/users/${cast.outsider.id}/orgs?limit=1`, 'orgs')).toEqual([
        { id: kept.id, name: 'Kept', role: 'owner', joinedAt: aTime, deletedAt: null },
        { id: deleted.id, name: 'Deleted', role: 'owner', joinedAt: aTime, deletedAt: aTime },
      ]);
    });
  });

  describe('organizations', () => {
    it('are shown with the members of each role', async () => {
      expect(await one(`/orgs/${cast.org.id}`, 'org')).toEqual({
        id: cast.org.id,
        name: cast.org.name,
        createdAt: aTime,
        deletedAt: null,
        purgeAt: null,
        counts: { owner: 1, admin: 1, member: 1 },
      });
      for (const id of [anUnknownId(), 'x'])
        for (const list of ['', '/members'])
          expect(await get(`/orgs/${id}${list}`)).toMatchObject(orgNotFound);
    });

    it('come in pages by name and then by id, of which the deleted ones can be asked for', async () => {
      const tag = tagged();
      const owner = await anAccount(service, 'owner');
      const names = ['Ä', 'B', 'A', 'A', '🙂', 'a', '%', '_'];
      const orgs: { id: string; name: string }[] = [];
      for (const name of names) orgs.push(await anOrgOf(owner, `${tag} ${name}`));
      const deleted = [orgs[1]!, orgs[3]!];
      for (const { id } of deleted) await owner.delete(`/api/orgs/${id}`);
      const found = (query: string) => walk(`/orgs?search=${tag}&limit=1${query}`, 'orgs');
      const namesOf = (rows: Row[]) => rows.map(({ name }) => String(name).slice(tag.length + 1));
      expect(namesOf(await found(''))).toEqual(['%', 'A', 'A', 'B', '_', 'a', 'Ä', '🙂']);
      expect(await found('&status=deleted')).toEqual([
        { id: orgs[3]!.id, name: `${tag} A`, createdAt: aTime, deletedAt: aTime, purgeAt: aTime },
        expect.objectContaining({ id: orgs[1]!.id }),
      ]);
      expect(namesOf(await found('&status=active'))).toEqual(['%', 'A', '_', 'a', 'Ä', '🙂']);
      await owner.post(`/api/orgs/${deleted[0]!.id}/restore`);
      expect(namesOf(await found('&status=deleted'))).toEqual(['A']);
      await owner.patch(`/api/orgs/${deleted[0]!.id}`, { name: `${tag} C` });
      await owner.delete(`/api/orgs/${deleted[0]!.id}`);
      expect(namesOf(await found('&status=deleted'))).toEqual(['A', 'C']);
    });

    it('without an enabled owner are found among many', async () => {
      const [tag, owner, other] = [tagged(), await anAccount(service, 'owner'), await anAccount(service)];
      const many = Array.from({ length: ROWS }, (_, n) => [
        anUnknownId(),
        `${tag} ${String(n).padStart(5, '0')}`,
      ]);
      const columns = 'id, name, revision, created_at';
      await insertColumns(
        service.db,
        'orgs',
        columns,
        many.map((org) => [...org, 1, 1]),
      );
      const member = 'org_id, user_id, email, role, joined_at';
      const join = (orgs: string[][], { id, email }: { id: string; email: string }, role = 'owner') =>
        insertColumns(
          service.db,
          'members',
          member,
          orgs.map(([org]) => [org!, id, email, role, 1]),
        );
      const [abandoned, disabled, deleted, shared] = [many[3]!, many[900]!, many[950]!, many[1000]!];
      const owned = many.filter((org) => ![abandoned, disabled, deleted, shared].includes(org));
      await join(owned, owner);
      await join([abandoned, disabled], owner, 'admin');
      await join([disabled, shared], other);
      await join([shared], owner);
      await setDisabled(other.email);
      await service.db.query('UPDATE orgs SET deleted_at = 1, deleted_name = name WHERE id = ?', [
        deleted[0]!,
      ]);
      const found = async (limit: number) =>
        (await walk(`/orgs?search=${tag}&status=ownerless&limit=${limit}`, 'orgs')).map(({ id }) => id);
      expect(await found(1)).toEqual([abandoned[0], disabled[0]]);
      expect(await found(100)).toEqual([abandoned[0], disabled[0]]);
      await service.db.query('UPDATE users SET disabled_at = NULL, disabled_email = NULL WHERE id = ?', [
        other.id,
      ]);
      expect(await found(100)).toEqual([abandoned[0]]);
    });

    it.each(['%', '_', '\\', "'", 'Ä', 'A\u0308'])(
      'are found by the beginning %j of a name',
      async (letters) => {
        const tag = tagged();
        const owner = await anAccount(service, 'owner');
        const named = await anOrgOf(owner, `${tag}${letters} x`);
        await anOrgOf(owner, `${tag}b x`);
        const found = await walk(`/orgs?search=${encodeURIComponent(` ${tag}${letters}`)}`, 'orgs');
        expect(found.map(({ id }) => id)).toEqual([named.id]);
      },
    );

    it('have members, also while they are deleted', async () => {
      const { org, owner, admin, member } = await anOrg(service);
      await owner.delete(`/api/orgs/${org.id}`);
      await setDisabled(member.email);
      const found = (query: string) => walk(`/orgs/${org.id}/members${query}`, 'members');
      expect(await found('?limit=1')).toEqual(
        [
          { userId: admin.id, email: admin.email, role: 'admin', disabled: false },
          { userId: member.id, email: member.email, role: 'member', disabled: true },
          { userId: owner.id, email: owner.email, role: 'owner', disabled: false },
        ].toSorted((a, b) => (a.email < b.email ? -1 : 1)),
      );
      expect(await found('?role=owner')).toHaveLength(1);
      expect(await found(`?search=${member.email.toUpperCase()}`)).toHaveLength(1);
    });
  });

  describe('the record', () => {
    it('is shown with addresses and reasons', async () => {
      const id = anUnknownId();
      await insertColumns(service.db, 'events', 'id, type, at, actor_type, actor_id, user_id, data, reason', [
        [id, 'account.disabled', 1, 'operator', 'grace', cast.member.id, '{}', 'ticket 4711'],
      ]);
      const { body } = await get(`/events?userId=${cast.member.id}`);

      expect(body['events']![0]).toEqual({
        id,
        type: 'account.disabled',
        at: '1970-01-01T00:00:00.001Z',
        actor: { type: 'operator', id: 'grace', sessionId: null, email: null },
        orgId: null,
        orgRevision: null,
        userId: cast.member.id,
        userRevision: null,
        sessionId: null,
        data: {},
        ip: null,
        requestId: null,
        reason: 'ticket 4711',
      });
      expect(body['events']!.find(({ type }) => type === 'member.added')).toMatchObject({
        actor: { type: 'user', id: cast.owner.id },
        ip: '127.0.0.1',
        requestId: expect.any(String) as string,
      });
    });

    it('has the present emails of users and actors, if they are asked for, and none of deleted users', async () => {
      const { org, owner, member } = await anOrg(service);
      const changed = `${tagged()}@example.com`;
      const events = async (include = '&include=emails') =>
        (await get(`/events?orgId=${org.id}${include}`)).body['events']!;
      const ofMember = async () => (await events()).find(({ userId }) => userId === member.id);
      expect(await ofMember()).toMatchObject({
        userEmail: member.email,
        actor: { id: owner.id, email: null, userEmail: owner.email },
      });
      await service.db.query('UPDATE users SET email = ? WHERE id = ?', [changed, owner.id]);
      await operator.post(`${BELOW}/users/${member.id}/delete`, { reason: 'a test' });
      expect(await ofMember()).toMatchObject({
        userEmail: null,
        actor: { type: 'operator', id: operator.id, email: operator.email, userEmail: operator.email },
      });
      const created = (await events()).find(({ type }) => type === 'org.created');
      expect(created).toMatchObject({ userEmail: null, actor: { userEmail: changed } });
      expect((await get(`/events?orgId=${org.id}`)).text).not.toContain('userEmail');
      expect(await get('/events?include=profile')).toMatchObject(invalidFields('include'));
      const named = { id: anUnknownId(), type: 'account.disabled', at: 1, actor_type: 'operator' };
      await insertColumns(service.db, 'events', 'id, type, at, actor_type, actor_id, user_id, data', [
        [named.id, named.type, named.at, named.actor_type, 'root', owner.id, '{}'],
      ]);
      expect((await get(`/events?userId=${owner.id}&include=emails`)).body['events']).toContainEqual(
        expect.objectContaining({
          userEmail: changed,
          actor: expect.objectContaining({ id: 'root', userEmail: null }) as object,
        }),
      );
    });

    it('comes in pages, of a user, an organization, both, or everything of a time', async () => {
      const { org, member, owner } = await anOrg(service);
      const types = async (query: string, limit = 1) =>
        (await walk(`/events?limit=${limit}&${query}`, 'events')).map(({ type }) => type);

      expect(await types(`orgId=${org.id}`)).toEqual([
        'member.added',
        'member.added',
        'member.added',
        'org.created',
      ]);
      expect(await types(`orgId=${org.id}&type=org.created`)).toEqual(['org.created']);
      expect(await types(`orgId=${org.id}&userId=${member.id}`)).toEqual(['member.added']);
      expect(await types(`userId=${owner.id}&type=account.registered&since=1h`)).toEqual([
        'account.registered',
      ]);
      expect(await types(`userId=${owner.id}&until=2020-01-01`)).toEqual([]);
      expect(await types(`orgId=${org.id}&since=2100-01-01`)).toEqual([]);
      expect(await types(`orgId=${org.id}&until=2020-01-01`)).toEqual([]);
      expect(await types(`orgId=${org.id}&until=2100-01-01T00:00Z`)).toHaveLength(4);
      const recent = await walk('/events?since=10m&limit=50', 'events');
      expect(recent.map(({ orgId }) => orgId)).toContain(org.id);
      expect(new Set(recent.map(({ id }) => id)).size).toBe(recent.length);
      const created = await walk('/events?since=24h&type=org.created&limit=100', 'events');
      expect(created.every(({ type }) => type === 'org.created')).toBe(true);
      expect(created.map(({ orgId }) => orgId)).toContain(org.id);
    });

    it('is found by who acted: by an id, by an email of now or of then, and by the name of a command', async () => {
      const { org, member, owner } = await anOrg(service);
      const [former, current, nobody] = [`${tagged()}@example.com`, `${tagged()}@example.com`, anUnknownId()];
      const acts = [1, 2, 3].map(() => anUnknownId()).toSorted((a, b) => (a < b ? -1 : 1));
      await insertColumns(
        service.db,
        'events',
        'id, type, at, actor_type, actor_id, actor_email, user_id, data',
        [former, current, null].map((email, n) => [
          acts[n]!,
          'account.disabled',
          1,
          'operator',
          email === null ? `root ${former}` : nobody,
          email,
          member.id,
          '{}',
        ]),
      );
      const emails = [former, current].map((email) => [email, nobody]);
      await insertColumns(service.db, 'operator_emails', 'email, user_id', emails);
      const found = async (actor: string, more = '') =>
        (await walk(`/events?limit=1&actorId=${encodeURIComponent(actor)}${more}`, 'events')).map(
          ({ id, type }) => (acts.includes(String(id)) ? acts.indexOf(String(id)) : type),
        );
      const ofOwner = ['member.added', 'member.added', 'member.added', 'org.created'];
      expect(await found(owner.email.toUpperCase(), `&orgId=${org.id}`)).toEqual(ofOwner);
      expect(await found(owner.id, '&type=org.created')).toEqual(['org.created']);
      expect((await found(owner.email)).slice(0, 4)).toEqual(ofOwner);
      expect(await found(member.id, `&orgId=${org.id}`)).toEqual([]);
      for (const actor of [nobody, former, ` ${current} `]) expect(await found(actor)).toEqual([1, 0]);
      expect(await found(former, `&userId=${member.id}`)).toEqual([1, 0]);
      expect(await found(former, `&userId=${owner.id}`)).toEqual([]);
      expect(await found(former, '&until=2020-01-01')).toEqual([]);
      expect(await found(`root ${former}`)).toEqual([2]);
      expect(await found('root', `&userId=${member.id}`)).toEqual([]);
    });

    it('reads a bounded part of it for a page, whatever there is', async () => {
      const user = anUnknownId();
      const ids = Array.from({ length: ROWS }, anUnknownId).toSorted((a, b) => (a < b ? -1 : 1));
      await insertColumns(
        service.db,
        'events',
        'id, type, at, actor_type, user_id, data',
        ids.map((id, n) => [id, n === 0 ? 'account.registered' : 'session.started', 1, 'system', user, '{}']),
      );
      const { body } = await get(`/events?userId=${user}&type=account.registered&limit=100`);
      expect(body).toEqual({ events: [], nextCursor: expect.any(String) as string });
      expect(await walk(`/events?userId=${user}&type=account.registered&limit=100`, 'events')).toHaveLength(
        1,
      );
    });
  });

  it('mails, latest first, without their texts and codes', async () => {
    const to = `${tagged()}@example.com`;
    const ids = Array.from({ length: 8 }, anUnknownId).toSorted((a, b) => (a < b ? -1 : 1));
    const states = ['waiting', 'failed', 'sent', 'dropped'];
    await insertColumns(
      service.db,
      'mails',
      'id, kind, recipient, state, created_at, next_attempt_at, attempts, expires_at, last_error',
      ids.map((id, n) => [id, 'password_reset', to, states[n % 4]!, 1, n, 2, 9, 'EENVELOPE']),
    );
    const found = async (query: string) =>
      (await walk(`/mails?to=${to.toUpperCase()}&${query}`, 'mails')).map(({ id }) => id);

    expect(await found('limit=1')).toEqual([ids[7], ids[5], ids[4], ids[3], ids[1], ids[0]]);
    expect(await found('state=sent&limit=1')).toEqual([ids[6], ids[2]]);
    expect((await walk('/mails?state=failed&limit=50', 'mails')).find(({ id }) => id === ids[5])).toEqual({
      id: ids[5],
      kind: 'password_reset',
      recipient: to,
      state: 'failed',
      attempts: 2,
      createdAt: '1970-01-01T00:00:00.001Z',
      nextAttemptAt: null,
      expiresAt: '1970-01-01T00:00:00.009Z',
      endedAt: null,
      lastError: 'EENVELOPE',
    });
  });

  it('services, which are listed by name, and shown with the ids and times of their secrets', async () => {
    const billing = await aServiceClient(service.db, ['introspect']);
    await theNextMillisecond();
    await billing.revoke(await billing.rotate());
    const listed = await walk('/services?limit=1', 'services');
    const shown = {
      name: billing.name,
      allow: ['introspect'],
      createdAt: aTime,
      disabledAt: null,
      removedAt: null,
    };
    const names = listed.map(({ name }) => String(name));

    expect(listed).toContainEqual(shown);
    expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)));
    const { body, text } = await get(`/services/${billing.name}`);
    const secret = { id: expect.any(String) as string, createdAt: aTime, lastUsedAt: null };
    expect(body['service']).toEqual({
      ...shown,
      calls: [],
      calledBy: [],
      secrets: [
        { ...secret, revokedAt: null },
        { ...secret, revokedAt: aTime },
      ],
    });
    const hashes = await service.db.query('SELECT hash FROM service_secrets');
    for (const hidden of [billing.secret, ...hashes.map(({ hash }) => String(hash))])
      expect(text).not.toContain(hidden);
    for (const name of ['nobody', 'X', '%25', 'x'.repeat(300)])
      expect(await get(`/services/${name}`)).toMatchObject(serviceNotFound);
  });

  it('the state of the service', async () => {
    const keys = (await service.anyone.get<{ keys: { kid: string }[] }>('/.well-known/jwks.json')).body.keys;
    const { body } = await get('/status');
    const ready = (await service.anyone.get('/health/ready')).body;
    expect(body).toEqual({
      ...(ready as object),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      engine: {
        name: expect.stringMatching(/^(?:sqlite|mariadb|mysql)$/) as string,
        version: expect.stringMatching(/^\d+\.\d+/) as string,
      },
      schema: { migration: expect.stringMatching(/^[A-Z]\w+\d{13}$/) as string, state: 'current' },
      keys: [{ kid: keys[0]!.kid, state: 'signing', signsFrom: null, signedUntil: null }],
      keySets: 'ok',
      mails: { waiting: expect.any(Number) as number, failed: expect.any(Number) as number },
    });
  });

  const anyId = anUnknownId();
  it.each([
    [
      '/users',
      `search= search=${'x'.repeat(255)} search=a&search=b status= status=gone limit=0 limit=1001 limit=x cursor= cursor=x`,
    ],
    [
      '/orgs',
      `search= search=%00 search=${'x'.repeat(101)} search=a&search=b status=disabled limit=0 cursor=x cursor=${'A'.repeat(601)}`,
    ],
    [
      '/events',
      'type=member.exploded type= userId=x orgId= since= since=yesterday until=2026-13-01 since=2026-11-22T09:30 limit=0 cursor=x since=1h&since=2h actorId= actorId=%00 actorId=a&actorId=b',
    ],
    ['/mails', 'state= state=lost to= to=nobody to=a@example.com&to=b@example.com limit=0 cursor=x'],
    ['/services', 'limit=0 cursor=x'],
    [`/users/${anyId}/orgs`, 'limit=0 cursor=x'],
    [`/orgs/${anyId}/members`, 'search= role=boss limit=0 cursor=x'],
  ])('%s refuses what makes no sense, by name', async (path, queries) => {
    for (const query of queries.split(' ')) {
      const field = query.slice(0, query.indexOf('='));
      expect(await get(`${path}?${query}`), query).toMatchObject(invalidFields(field));
    }
  });

  it.each([
    'type=org.created',
    'type=org.created&since=2d',
    'type=org.created&until=1h',
    'type=org.created&since=2026-11-20&until=2026-11-22',
  ])('no type among all events for longer than a day: ?%s', async (query) => {
    expect(await get(`/events?${query}`)).toMatchObject(invalidFields('type'));
  });
});
