import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { addCrowd, allRows, crowdEmail, insertRows, sessionId } from '../support/rows.js';
import { atOnce, times } from '../support/at-once.js';
import {
  boundTokenRefused,
  idempotencyKeyReused,
  invalidFields,
  preconditionFailed,
  unauthorized,
} from '../support/expected.js';
import { readFeed, readFeedAfter } from '../support/feed.js';
import { anInvitation, type ReceivedInvitation, verified } from '../support/inviting.js';
import { pagesOf } from '../support/pages.js';
import {
  type Account,
  anAccount,
  anEmail,
  anOrg,
  anOrgOf,
  aPassword,
  byCode,
  type Session,
} from '../support/personas.js';
import { startService } from '../support/service.js';
import { aBoundToken, aServiceCaller } from '../support/services.js';

const PATH = '/api/me/profile';
const NOTHING = { name: null, avatarUrl: null, locale: null };
const ADA = { name: 'Ada Lovelace', avatarUrl: 'https://example.com/ada.png', locale: 'en-GB' };
const TAG = /^"[\w-]{22}"$/;

const service = await startService();
const tagOf = async (who: Account): Promise<string> => (await who.get(PATH)).headers.get('etag')!;
/** Other files have left rows, which the service may delete meanwhile. */
const rowsThatName = async ({ id, email }: Account): Promise<string[]> =>
  Object.values(await allRows(service.db))
    .flat()
    .filter((row) => row.includes(id) || row.includes(email));
const changesOf = ({ id }: Account) =>
  service.db.query(
    "SELECT data FROM events WHERE type = 'account.profile_changed' AND user_id = ? ORDER BY id",
    [id],
  );

describe('the profile', () => {
  it('is empty at first, takes what is given, keeps what is not, and loses what is null', async () => {
    const ada = await anAccount(service, 'ada');
    const first = await ada.get(PATH);
    expect([first.status, first.body]).toEqual([200, { profile: NOTHING }]);
    expect(first.headers.get('etag')).toMatch(TAG);

    const steps: [change: object, profile: object][] = [
      [
        { name: ' Ada Lovelace ', locale: 'en-gb' },
        { ...NOTHING, name: ADA.name, locale: 'en-GB' },
      ],
      [{ avatarUrl: 'HTTPS://EXAMPLE.com:443/./ada.png' }, ADA],
      [{ name: null }, { ...ADA, name: null }],
      [{}, { ...ADA, name: null }],
      [{ unknown: 1, avatarUrl: null, locale: null }, NOTHING],
    ];
    for (const [change, profile] of steps) {
      const changed = await ada.patch(PATH, change);
      expect([changed.status, changed.body], changed.text).toEqual([200, { profile }]);
      const read = await ada.get(PATH);
      expect(read.body).toEqual({ profile });
      expect(read.headers.get('etag')).toBe(changed.headers.get('etag'));
    }
    expect((await changesOf(ada)).map(({ data }) => data)).toEqual([
      '{"changed":["name","locale"]}',
      '{"changed":["avatarUrl"]}',
      '{"changed":["name"]}',
      '{"changed":["avatarUrl","locale"]}',
    ]);
  });

  it('changes nothing, with the same tag and no event, if it is so already', async () => {
    const ada = await anAccount(service, 'ada');
    const tag = (await ada.patch(PATH, ADA)).headers.get('etag');
    const before = await rowsThatName(ada);
    for (const change of [{}, ADA, { name: '  Ada Lovelace', locale: 'EN-gb' }]) {
      const again = await ada.patch(PATH, change);
      expect([again.status, again.headers.get('etag'), again.body]).toEqual([200, tag, { profile: ADA }]);
    }
    expect(await rowsThatName(ada)).toEqual(before);
  });

  it('is changed on what the client saw, whatever else of the user changed meanwhile', async () => {
    const ada = await anAccount(service, 'ada');
    const tag = await tagOf(ada);
    expect((await ada.delete('/api/me/sessions')).status, 'raises the revision of the user').toBe(200);
    const changed = await ada.with({ 'if-match': tag }).patch(PATH, { name: 'Ada' });
    expect(changed.status, changed.text).toBe(200);
    for (const stale of [tag, '"1"', `W/${changed.headers.get('etag')}`]) {
      const refused = await ada.with({ 'if-match': stale }).patch(PATH, { name: 'Grace' });
      expect(refused).toMatchObject(preconditionFailed);
      expect(refused.body).toMatchObject({
        detail: expect.stringMatching(/^The profile has changed/) as string,
      });
    }
    expect(
      await ada.with({ 'if-match': tag }).patch(PATH, { name: 'Ada' }),
      'even to what it is',
    ).toMatchObject(preconditionFailed);
    expect((await ada.with({ 'if-match': '*' }).patch(PATH, { name: 'Grace' })).status).toBe(200);
    expect(await ada.with({ 'if-match': 'x' }).patch(PATH, {})).toMatchObject(invalidFields('If-Match'));
  });

  it('has one winner of many changes at once that are based on one state', async () => {
    const ada = await anAccount(service, 'ada');
    const tag = await tagOf(ada);
    const by = ada.with({ 'if-match': tag });
    const answers = await atOnce(times(8, (n) => () => by.patch(PATH, { name: `Ada ${n}` })));
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(7);
    expect((await ada.get(PATH)).body).toEqual(winner!.body);
    expect(await changesOf(ada)).toHaveLength(1);
  });

  it('keeps both of two changes of different fields at once', async () => {
    const ada = await anAccount(service, 'ada');
    const { name, avatarUrl, locale } = ADA;
    await atOnce([{ name }, { avatarUrl }, { locale }].map((change) => () => ada.patch(PATH, change)));
    expect((await ada.get(PATH)).body).toEqual({ profile: ADA });
  });

  it('repeats its answer to an idempotency key', async () => {
    const ada = await anAccount(service, 'ada');
    const keyed = ada.with({ 'idempotency-key': 'profile' });
    const answers = await atOnce(times(5, () => () => keyed.patch(PATH, ADA)));
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      times(5, () => [200, { profile: ADA }]),
    );
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(4);
    expect(await changesOf(ada)).toHaveLength(1);
    expect(await keyed.patch(PATH, { name: 'Grace' })).toMatchObject(idempotencyKeyReused);
    const unchanged = ada.with({ 'idempotency-key': 'unchanged' });
    await unchanged.patch(PATH, ADA);
    await ada.patch(PATH, { name: 'Grace' });
    expect((await unchanged.patch(PATH, ADA)).body).toEqual({ profile: ADA });
  });

  it('is for users only, and not for a token that is bound to a service', async () => {
    const ada = await anAccount(service, 'ada');
    const billing = await aServiceCaller(service, 'introspect');
    const bound = ada.as(await aBoundToken(billing, ada));
    const refused: [Account, string][] = [
      [bound, PATH],
      [bound, '/api/me?include=profile'],
      [bound, '/api/me?include=roles,profile'],
    ];
    for (const [who, path] of refused) {
      const answer = await who.get(path);
      expect(answer).toMatchObject(boundTokenRefused);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"');
    }
    expect(await bound.patch(PATH, { name: 'Ada' })).toMatchObject(boundTokenRefused);
    expect((await bound.get('/api/me?include=roles')).status).toBe(200);
    expect(await service.anyone.patch(PATH, { name: 'Ada' })).toMatchObject(unauthorized);
    const plain = await byCode(service, ada);
    expect((await plain.patch(PATH, { name: 'Ada' })).body).toEqual({ profile: { ...NOTHING, name: 'Ada' } });
  });

  it('is told to the feed and to its user by the names of its fields only', async () => {
    const reader = await aServiceCaller(service, 'events');
    const { next } = await readFeed(reader);
    const ada = await anAccount(service, 'ada');
    await ada.patch(PATH, ADA);
    const told = (await readFeedAfter(reader, next)).filter(({ userId }) => userId === ada.id);
    const changed = { type: 'account.profile_changed', data: { changed: ['name', 'avatarUrl', 'locale'] } };
    expect(told.at(-1)).toMatchObject({ ...changed, userRevision: 2 });
    const own = await ada.get<{ events: object[] }>('/api/me/events?type=account.profile_changed');
    expect(own.body.events).toMatchObject([changed]);
    expect(JSON.stringify([told, own.body])).not.toMatch(/Lovelace|example\.com|en-GB/);
    const rows = Object.entries(await allRows(service.db));
    const tables = rows.filter(([, texts]) => texts.join('').includes('Lovelace')).map(([name]) => name);
    expect(tables.filter((name) => name !== 'users' && name !== 'idempotency_keys')).toEqual([]);
  });

  it('goes with its user', async () => {
    const ada = await anAccount(service, 'ada');
    const name = `Ada ${ada.id}`;
    await ada.with({ 'idempotency-key': 'k' }).patch(PATH, { name });
    expect((await ada.delete('/api/me', { password: ada.password })).status).toBe(200);
    expect(JSON.stringify(await allRows(service.db))).not.toContain(name);
  });
});

describe('a field of the profile', () => {
  /** What an organization can be called, a user can be called, in the same form. */
  const NAMES: unknown[] = [
    'Ada',
    ' Ada ',
    'Cafe\u0301',
    '100 \u{1F600}',
    '\u{1F600}'.repeat(100),
    '\u{1F600}'.repeat(101),
    '<b>Ada</b>',
    '<script>alert(1)</script>',
    'Ada\r\nBcc: x@example.com',
    'A\u0000',
    'A\u0007',
    'A\u202Egnp.exe',
    '\u2066A\u2069',
    'A\u200BB',
    '',
    ' ',
    '\u00A0',
    'x'.repeat(100),
    'x'.repeat(101),
    'x'.repeat(3000),
    '\ud800',
    '\uFFFD',
    7,
    true,
    [],
    {},
    ['Ada'],
  ];

  const errorsOf = ({ body }: Answer): unknown => (body as { errors?: object[] }).errors;

  it('takes and refuses the names that an organization does', async () => {
    const ada = await anAccount(service, 'ada');
    const org = await anOrgOf(ada, 'First');
    for (const name of NAMES) {
      const renamed = await ada.patch<{ org?: { name: string } }>(`/api/orgs/${org.id}`, { name });
      const changed = await ada.patch<{ profile?: { name: string } }>(PATH, { name });
      expect([name, changed.status], changed.text).toEqual([name, renamed.status]);
      expect([changed.body.profile?.name, errorsOf(changed)]).toEqual([
        renamed.body.org?.name,
        errorsOf(renamed),
      ]);
    }
  });

  const WRONG: Record<string, unknown[]> = {
    avatarUrl: [
      'http://example.com/a',
      'javascript:alert(1)',
      'https:javascript:alert(1)',
      'data:image/png;base64,AA',
      '//example.com',
      'ftp://example.com',
      'https://ada@example.com/',
      'https://ada:secret@example.com/',
      'https://:secret@example.com/',
      'https://',
      'https:///',
      'https:example.com',
      'https://exa mple.com',
      'https://example.com/a b',
      'https://example.com/\r\nX: y',
      'https://example.com/\tb',
      '\u202Ehttps://example.com',
      'https://example.com\\@evil.example',
      ` https://example.com`,
      `https://example.com/${'x'.repeat(481)}`,
      `https://example.com/${'é'.repeat(90)}`,
      `https://example.com/${'x'.repeat(20_0)}${'/..'.repeat(300)}`,
      'https://[::1',
      '',
      7,
      {},
      ['https://example.com'],
    ],
    locale: [
      'de_AT',
      'deutsch1234',
      'd',
      '*',
      'en-',
      'en--GB',
      'de AT',
      'x-private',
      'i-klingon',
      '../../etc',
      '__proto__',
      'de\r\n',
      `de-x-${'a'.repeat(8)}${'-aaaaaaaa'.repeat(3)}`,
      'en-a'.repeat(1000),
      '',
      7,
      {},
      ['de'],
    ],
  };

  it.each(Object.entries(WRONG))('%s has no other form', async (field, values) => {
    const ada = await anAccount(service, 'ada');
    await ada.patch(PATH, ADA);
    for (const value of values)
      expect(await ada.patch(PATH, { [field]: value }), JSON.stringify(value)).toMatchObject(
        invalidFields(field),
      );
    expect((await ada.get(PATH)).body).toEqual({ profile: ADA });
    expect(await ada.patch(PATH, { name: '', avatarUrl: '', locale: '' })).toMatchObject(
      invalidFields('name', 'avatarUrl', 'locale'),
    );
  });

  it.each([
    [{ avatarUrl: `https://example.com/${'x'.repeat(480)}` }, {}],
    [
      { avatarUrl: 'https://Bücher.example/ä?q="<i>"' },
      { avatarUrl: 'https://xn--bcher-kva.example/%C3%A4?q=%22%3Ci%3E%22' },
    ],
    [{ locale: 'iw' }, { locale: 'he' }],
    [{ locale: 'DE-latn-at-1996' }, { locale: 'de-Latn-AT-1996' }],
    [{ locale: 'zh-hant-tw' }, { locale: 'zh-Hant-TW' }],
  ])('is stored in one form: %j', async (change, stored) => {
    const ada = await anAccount(service, 'ada');
    const { status, body, text } = await ada.patch(PATH, change);
    expect([status, body], text).toEqual([200, { profile: { ...NOTHING, ...change, ...stored } }]);
  });
});

describe('registration', () => {
  const register = (more: object) =>
    service.anyone.post<Session>('/api/auth/register', { email: anEmail(), password: aPassword(), ...more });

  it('takes a name and a locale', async () => {
    const { status, body } = await register({ name: ' Zoë ', locale: 'de-at', avatarUrl: ADA.avatarUrl });
    expect(status).toBe(201);
    expect(Object.keys(body.user)).toEqual(['id', 'email']);
    const me = await service.anyone.withToken(body.token).get(PATH);
    expect(me.body).toEqual({ profile: { name: 'Zoë', avatarUrl: null, locale: 'de-AT' } });
    const without = await register({ name: null, locale: null });
    expect((await service.anyone.withToken(without.body.token).get(PATH)).body).toEqual({ profile: NOTHING });
  });

  it('refuses what the profile refuses', async () => {
    expect(await register({ name: 'A\n', locale: 'de_AT' })).toMatchObject(invalidFields('locale'));
    expect(await register({ name: 'A\nB', locale: 7 })).toMatchObject(invalidFields('name', 'locale'));
  });
});

describe('include=profile', () => {
  it('adds the profile to the user, beside other parts', async () => {
    const ada = await anAccount(service, 'ada');
    await ada.patch(PATH, ADA);
    const user = { id: ada.id, email: ada.email };
    expect((await ada.get('/api/me?include=profile')).body).toEqual({
      user: { ...user, profile: ADA },
      orgs: [],
    });
    const all = await ada.get('/api/me?include=profile&include=account,roles');
    expect(all.body).toEqual({ user: { ...user, emailVerified: false, profile: ADA }, orgs: [] });
    expect((await ada.get('/api/me')).body).toEqual({ user, orgs: [] });
  });

  it('adds name and picture to each member, wherever members are shown', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    await owner.patch(PATH, ADA);
    await member.patch(PATH, { name: 'Grace', locale: 'de' });
    const row = ({ id, email }: Account, role: string) => ({ userId: id, email, role });
    const plain = [row(owner, 'owner'), row(admin, 'admin'), row(member, 'member')];
    const profiles = [
      { name: ADA.name, avatarUrl: ADA.avatarUrl },
      { name: null, avatarUrl: null },
      { name: 'Grace', avatarUrl: null },
    ];
    const members = plain.map((one, place) => ({ ...one, profile: profiles[place] }));
    const path = `/api/orgs/${org.id}`;
    const get = async (query: string) => (await member.get(path + query)).body;

    expect(await get('/members')).toEqual({ members: plain });
    expect(await get('/members?include=profile')).toEqual({ members });
    expect(await get('/members?include=profile&limit=3')).toEqual({ members });
    expect(await get('/members?include=profile&role=member')).toEqual({ members: [members[2]] });
    expect(await get('/members?search=member&limit=1')).toEqual({ members: [plain[2]] });
    expect(await get(`/members/${owner.id}?include=profile`)).toEqual({
      member: { ...members[0], joinedAt: expect.any(String) as string },
    });
    expect(await get('/members/me')).toEqual({
      member: { ...plain[2], joinedAt: expect.any(String) as string },
    });
    const pages = await pagesOf<object>(member, `${path}/members?include=profile&limit=1`, 'members');
    expect(pages.flat()).toEqual(members);

    const [without, with_] = [await member.get(path), await member.get(`${path}?include=profile`)];
    expect([without.body, without.headers.get('etag')]).toEqual([{ org: { ...org, members: plain } }, '"3"']);
    expect([with_.body, with_.headers.get('etag')]).toEqual([{ org: { ...org, members } }, null]);
    for (const query of ['', '/members', `/members/${owner.id}`])
      for (const include of ['', 'profiles', 'roles', 'profile,', 'profile&include=account'])
        expect(await member.get(`${path}${query}?include=${include}`)).toMatchObject(
          invalidFields('include'),
        );
  });

  it('adds them to a list, which is streamed from 101 members on', async () => {
    const ada = await anAccount(service, 'ada');
    const crowded = await anOrgOf(ada);
    await addCrowd(service.db, crowded, 2100);
    await service.db.query("UPDATE users SET name = id WHERE email LIKE 'u%'");
    const partOf = async (others: number) => {
      const org = await anOrgOf(ada);
      const some = times(others, (number) => ({ user_id: sessionId(number), email: crowdEmail(number) }));
      await insertRows(service.db, 'members', some, { org_id: org.id });
      return { org, others };
    };
    type Listed = { userId: string; profile: { name: string | null } };
    for (const { org, others } of [await partOf(99), await partOf(100), { org: crowded, others: 2100 }]) {
      for (const path of ['', '/members']) {
        const { body, headers } = await ada.get<{ org: { members: Listed[] }; members: Listed[] }>(
          `/api/orgs/${org.id}${path}?include=profile`,
        );
        const members = path === '' ? body.org.members : body.members;
        expect([members.length, headers.get('etag')]).toEqual([others + 1, null]);
        expect(headers.get('content-length') === null).toBe(others >= 100);
        expect(
          members.every(({ userId, profile }) => profile.name === (userId === ada.id ? null : userId)),
        ).toBe(true);
      }
    }
  });

  it('adds who invited', async () => {
    const { org, owner } = await anOrg(service);
    await owner.patch(PATH, { name: 'Ada <b>' });
    const grace = await anAccount(service, 'grace');
    await verified(service.db, grace);
    await anInvitation(owner, org, { email: grace.email });
    const list = async (query: string) =>
      (await grace.get<{ invitations: ReceivedInvitation[] }>(`/api/me/invitations${query}`)).body
        .invitations;
    expect((await list('?include=profile')).map(({ inviter }) => inviter)).toEqual([
      { name: 'Ada <b>', email: owner.email },
    ]);
    expect((await list(''))[0]).not.toHaveProperty('inviter');
    expect(await grace.get('/api/me/invitations?include=roles')).toMatchObject(invalidFields('include'));
  });
});
