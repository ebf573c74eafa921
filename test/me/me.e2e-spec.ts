import { pagesOf } from '../support/pages.js';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bodyOf } from '../support/answer.js';
import { times } from '../support/at-once.js';
import { anId, invalidFields, invalidToken, sessionNotFound, unauthorized } from '../support/expected.js';
import { verified } from '../support/inviting.js';
import { addLongHistory, addOrgs } from '../support/rows.js';
import { insertProvider } from '../support/provider-rows.js';
import { PausedReader } from '../support/connections.js';
import type { Account, Org } from '../support/personas.js';
import {
  aCode,
  anAccount,
  anEmail,
  anOrg,
  anOrgOf,
  anUnknownId,
  aPassword,
  byCode,
  exchange,
  isAlive,
  join,
  logIn,
} from '../support/personas.js';
import { startService } from '../support/service.js';
import { aRefreshableLogin, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import { sessionIdOf } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const LISTS = ['/api/me/orgs', '/api/me/deleted-orgs'];

const service = await startService();

describe('GET /api/me', () => {
  it('lists organizations in the order of joining', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const theirs = await anOrgOf(grace, 'Older, joined last');
    const first = await anOrgOf(ada, 'Zeta');
    const second = await anOrgOf(ada, 'Alpha');
    await join(theirs, grace, ada, 'member');
    const answer = await ada.get('/api/me');
    expect(answer.body).toEqual({ user: { id: ada.id, email: ada.email }, orgs: [first, second, theirs] });
  });

  it('adds what is asked for, and nothing else', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const second = await anOrgOf(admin, 'Another');
    await join(second, admin, owner, 'member');
    await verified(service.db, member);
    const user = ({ id, email }: Account) => ({ id, email });

    for (const include of [
      'roles,account',
      'account,roles',
      'account,roles,account',
      'roles&include=account',
    ]) {
      const { status, body } = await owner.get(`/api/me?include=${include}`);
      expect(status).toBe(200);
      expect(body).toEqual({
        user: { ...user(owner), emailVerified: false },
        orgs: [
          { ...org, role: 'owner' },
          { ...second, role: 'member' },
        ],
      });
    }
    expect((await member.get('/api/me?include=account')).body).toEqual({
      user: { ...user(member), emailVerified: true },
      orgs: [org],
    });
    expect((await member.get('/api/me?include=roles')).body).toEqual({
      user: user(member),
      orgs: [{ ...org, role: 'member' }],
    });
    expect((await member.get('/api/me?other=1')).body).toEqual({ user: user(member), orgs: [org] });
    await admin.delete(`/api/orgs/${second.id}`);
    expect((await admin.get('/api/me?include=roles')).body).toMatchObject({ orgs: [{ id: org.id }] });
  });

  it.each([
    [200, false],
    [201, true],
    [450, true],
  ])('lists %s organizations in the order of joining, streamed: %s', async (count, isStreamed) => {
    const ada = await anAccount(service, 'ada');
    await addOrgs(service.db, ada, count);
    const names = times(count, (number) => `Organization ${number}`);
    // As if an instance had recorded that its time had come: then no clock decides.
    const from = '2100-01-01T00:00:00.000Z';
    const lastOrg = 'SELECT org_id FROM members WHERE user_id = ? ORDER BY joined_at DESC LIMIT 1';
    const require = `UPDATE orgs SET second_factor_from = ? WHERE id = (${lastOrg})`;
    await service.db.query(require, [Date.parse(from), ada.id]);
    const free = { suspended: false, secondFactorRequiredFrom: null };
    const required = { suspended: true, secondFactorRequiredFrom: from };
    for (const [include, user, first, last] of [
      ['', {}, {}, {}],
      ['?include=roles,account', { emailVerified: false }, { role: 'owner' }, { role: 'owner' }],
      ['?include=requirements', {}, free, required],
    ] as const) {
      const { headers, body } = await ada.get<{ user: object; orgs: Org[] }>(`/api/me${include}`);
      expect(headers.get('content-length') === null).toBe(isStreamed);
      expect(body.orgs.map(({ name }) => name)).toEqual(names);
      expect(body.user).toEqual({ id: ada.id, email: ada.email, ...user });
      expect(body.orgs[0]).toEqual({ id: expect.any(String), name: names[0], ...first });
      expect(body.orgs.at(-1)).toEqual({ id: expect.any(String), name: names.at(-1), ...last });
    }
  });

  it('reads the lists of many users at once, though they are longer together than one query reads', async () => {
    const accounts: Account[] = [];
    while (accounts.length < 8) accounts.push(await anAccount(service));
    await Promise.all(accounts.map((account, n) => addOrgs(service.db, account, 170 + 10 * n)));
    const answers = await Promise.all(
      times(24, (n) => accounts[n % 8]!.get<{ user: object; orgs: object[] }>('/api/me')),
    );
    expect(answers.map(({ body }) => body.orgs.length)).toEqual(times(24, (n) => 170 + 10 * (n % 8)));
  });

  it('answers 64 requests of one user at once', async () => {
    const ada = await anAccount(service, 'ada');
    await addOrgs(service.db, ada, 450);
    const answers = await Promise.all(times(64, () => ada.get<{ orgs: object[] }>('/api/me')));
    expect(answers.map(({ status, body }) => [status, body.orgs.length])).toEqual(
      times(64, () => [200, 450]),
    );
  });

  it('is cut off for a reader of a long list who logs out meanwhile', async () => {
    const ada = await anAccount(service, 'ada');
    await addOrgs(service.db, ada, 15_000, (number) => `${'\u{1F600}'.repeat(90)} ${number}`);
    const reader = await PausedReader.get(service, '/api/me', ada);
    expect((await ada.post('/api/auth/logout')).status).toBe(200);
    const { text, whole } = await reader.readOn();
    expect(whole).toBe(false);
    expect(text).not.toContain('14999');
  });

  it('takes no other word, and nothing that is no list of them', async () => {
    const ada = await anAccount(service);
    const alike = ['', 'role', 'Roles', 'roles,', ',roles', 'roles,members', 'roles%20account', '__proto__'];
    for (const include of [
      ...alike,
      `${'roles,'.repeat(11)}roles`,
      'roles&include=',
      'roles&include=members',
    ])
      expect(await ada.get(`/api/me?include=${include}`), include).toMatchObject(invalidFields('include'));
    expect((await ada.get('/api/me?include[]=roles')).body).toEqual({ user: expect.anything(), orgs: [] });
    expect(await service.anyone.get('/api/me?include=x')).toMatchObject(unauthorized);
  });

  it('shows each organization to its members only, until they are removed', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    for (const insider of [owner, admin, member])
      expect((await insider.get('/api/me')).body).toMatchObject({ user: { id: insider.id }, orgs: [org] });
    await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
    for (const other of [outsider, member])
      expect((await other.get('/api/me')).body).toMatchObject({ orgs: [] });
  });
});

describe('GET /api/me/account', () => {
  it('shows these fields, and no other', async () => {
    const ada = await anAccount(service, 'ada');
    const { status, body } = await ada.get('/api/me/account');
    const [row] = await service.db.query('SELECT created_at FROM users WHERE id = ?', [ada.id]);
    expect(status).toBe(200);
    expect(body).toEqual({
      user: { id: ada.id, email: ada.email },
      emailVerified: false,
      createdAt: new Date(Number(row!['created_at'])).toISOString(),
      passwordChangedAt: null,
    });
    await verified(service.db, ada);
    expect((await ada.get('/api/me/account')).body).toMatchObject({ emailVerified: true });
    expect(await service.anyone.get('/api/me/account')).toMatchObject(unauthorized);
  });
});

describe('GET /api/me/account?include=logins', () => {
  const logins = async (user: Account) =>
    (await user.get<{ logins: object }>('/api/me/account?include=logins')).body.logins;

  it('shows whether there is a password, and the providers by name', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    expect(await logins(ada)).toEqual({ password: true, providers: [] });
    const linkedTo = () => insertProvider(service.db, { users: [ada.id] });
    const providers = [await linkedTo(), await linkedTo()];
    await service.db.query("UPDATE users SET password_hash = '!' WHERE id = ?", [ada.id]);
    const linked = { title: 'Acme', linkedAt: '1970-01-01T00:00:00.001Z' };
    const names = providers.map(({ name }) => name).toSorted();
    const expected = { password: false, providers: names.map((name) => Object.assign({ name }, linked)) };
    expect(await logins(ada)).toEqual(expected);
    expect(await logins(grace)).toEqual({ password: true, providers: [] });
  });

  it('includes nothing else', async () => {
    const ada = await anAccount(service);
    for (const include of ['login', 'logins,roles', ''])
      expect(await ada.get(`/api/me/account?include=${include}`)).toMatchObject(invalidFields('include'));
  });
});

describe('the organizations of a user', () => {
  let ada: Account;
  const orgs: Org[] = [];

  beforeAll(async () => {
    const grace = await anAccount(service, 'grace');
    ada = await anAccount(service, 'ada');
    for (const name of ['Zeta', 'Alpha', 'Beta']) orgs.push(await anOrgOf(ada, name));
    orgs.push(await anOrgOf(grace, 'Joined last'));
    await join(orgs[3]!, grace, ada, 'member');
    // Of the same moment, so that the id decides, too.
    await service.db.query(
      `UPDATE members SET joined_at = 1700000000000 WHERE user_id = ? AND org_id IN (?, ?)`,
      [ada.id, orgs[0]!.id, orgs[1]!.id],
    );
  });

  async function idsInPages(path: string, limit: number): Promise<string[]> {
    const pages = await pagesOf<Org>(ada, `${path}?limit=${limit}`, 'orgs');
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
    return pages.flat().map(({ id }) => id);
  }

  it('come with the role and the time of joining', async () => {
    const { status, body } = await ada.get<{ orgs: Org[] }>('/api/me/orgs');
    expect(status).toBe(200);
    expect(body).toEqual({
      orgs: orgs.map((org, place) => ({ ...org, role: place < 3 ? 'owner' : 'member', joinedAt: A_TIME })),
    });
  });

  it.each([1, 2, 3, 4, 5])('come in pages of %i, in order of joining', async (limit) => {
    expect(await idsInPages('/api/me/orgs', limit)).toEqual(orgs.map(({ id }) => id));
  });

  it.each([1, 2, 3])('that are deleted come in pages of %i, those that the user owned', async (limit) => {
    for (const { id } of orgs) await ada.delete(`/api/orgs/${id}`);
    expect(await idsInPages('/api/me/deleted-orgs', limit)).toEqual(orgs.slice(0, 3).map(({ id }) => id));
    expect((await ada.get<{ orgs: Org[] }>('/api/me/orgs')).body.orgs.map(({ id }) => id)).toEqual([
      orgs[3]!.id,
    ]);
    for (const { id } of orgs.slice(0, 3))
      expect((await ada.post(`/api/orgs/${id}/restore`)).status).toBe(200);
  });

  it.each(LISTS)('%s is empty for somebody new', async (path) => {
    expect((await (await anAccount(service)).get(path)).body).toEqual({ orgs: [] });
  });

  it.each(LISTS)('%s refuses a bad limit and cursor', async (path) => {
    for (const limit of ['0', '1001', '-1', 'x', '1.5', ''])
      expect(await ada.get(`${path}?limit=${limit}`), limit).toMatchObject(invalidFields('limit'));
    for (const cursor of ['x', '', 'OmFkYQ', 'a'.repeat(500)])
      expect(await ada.get(`${path}?cursor=${cursor}`), cursor).toMatchObject(invalidFields('cursor'));
  });
});

const SESSIONS = '/api/me/sessions';

type Listed = Record<'id' | 'via' | 'createdAt' | 'lastUsedAt' | 'expiresAt', string> & {
  current: boolean;
  deviceName: string | null;
};

describe('the sessions of a user', () => {
  let ada: Account;
  let desktop: Account;
  let login: Tokens;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
    login = await aRefreshableLogin(service, ada);
    desktop = ada.as(login.token);
  });

  const list = async (of: Account) => (await bodyOf(of.get<{ sessions: Listed[] }>(SESSIONS))).sessions;
  const endings = () =>
    service.db.query("SELECT session_id, data FROM events WHERE type = 'session.ended' AND user_id = ?", [
      ada.id,
    ]);

  describe('are listed', () => {
    it('with exactly what is documented, the latest first', async () => {
      const internal = { anyone: service.anyone.with({ 'user-agent': 'Internal/2' }) };
      const { body } = await exchange(internal, await aCode(desktop));
      const sessions = await list(desktop);
      const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/) as string;
      const moments = { createdAt: aTime, lastUsedAt: aTime, expiresAt: aTime };
      const common = { id: anId, ip: '127.0.0.1', ...moments, deviceName: null, service: null };
      expect(sessions).toEqual([
        { ...common, current: false, via: 'code', userAgent: 'Internal/2' },
        { ...common, current: true, via: 'password', userAgent: null },
        { ...common, current: false, via: 'password', userAgent: null },
      ]);
      expect(sessions.map(({ id }) => id)).toEqual([
        sessionIdOf(body),
        sessionIdOf(desktop),
        sessionIdOf(ada),
      ]);
      const [code, refreshable, plain] = sessions.map(
        ({ createdAt, expiresAt }) => Date.parse(expiresAt) - Date.parse(createdAt),
      );
      expect([code, refreshable, plain]).toEqual([86_400_000, 14 * 86_400_000, 86_400_000]);
      expect(sessions.every(({ createdAt, lastUsedAt }) => createdAt === lastUsedAt)).toBe(true);
      expect((await list(ada.as(body.token))).map(({ current }) => current)).toEqual([true, false, false]);
    });

    it('with what their user calls the device, given at login or registration', async () => {
      const grace = { email: anEmail('grace'), password: aPassword() };
      // Decomposed, with blanks around it, as the stored form is not.
      const names = { registered: ` ${'Cafe\u0301'.repeat(12)} `, loggedIn: '𝒟'.repeat(60) };
      const registered = { ...grace, deviceName: names.registered };
      expect((await service.anyone.post('/api/auth/register', registered)).status).toBe(201);
      const { body } = await logIn(service, grace, { deviceName: names.loggedIn });
      const child = await byCode(service, ada.as(body.token));
      const listed = (await list(child)).map(({ deviceName }) => deviceName);
      expect(listed).toEqual([null, names.loggedIn, 'Café'.repeat(12)]);
    });

    it.each(['', ' ', 'x'.repeat(61), 'a\nb', '\u0007', '\ud800', null, 7, ['x'], {}])(
      'not with the device name %j, which is refused',
      async (deviceName) => {
        const { email, password } = ada;
        for (const path of ['/api/auth/login', '/api/auth/register']) {
          const answer = await service.anyone.post(path, { email, password, deviceName });
          expect(answer).toMatchObject(invalidFields('deviceName'));
        }
      },
    );

    it('with the last refresh as their last use, and no other', async () => {
      await ada.get('/api/me');
      await service.db.query('UPDATE sessions SET created_at = created_at - 60000 WHERE user_id = ?', [
        ada.id,
      ]);
      await refreshed(service, login.refreshToken);
      const [refreshable, plain] = await list(ada);
      expect(Date.parse(refreshable!.lastUsedAt)).toBeGreaterThan(Date.parse(refreshable!.createdAt));
      expect(plain!.lastUsedAt).toBe(plain!.createdAt);
    });

    it.each<[string, string]>([
      ['was revoked', 'revoked_at = 1'],
      ['has expired', 'expires_at = 1'],
      ['is of another epoch', 'auth_epoch = 7'],
    ])('without one that %s', async (_what, how) => {
      const child = await byCode(service, desktop);
      await service.db.query(`UPDATE sessions SET ${how} WHERE id = ?`, [sessionIdOf(desktop)]);
      expect((await list(ada)).map(({ id }) => id)).toEqual(
        how.startsWith('revoked') ? [sessionIdOf(ada)] : [sessionIdOf(child), sessionIdOf(ada)],
      );
    });

    it('without those of others, and for nobody who is not signed in', async () => {
      const grace = await anAccount(service, 'grace');
      expect((await list(grace)).map(({ id }) => id)).toEqual([sessionIdOf(grace)]);
      expect(await service.anyone.get(SESSIONS)).toMatchObject(unauthorized);
    });
  });

  describe('are ended one by one', () => {
    it('with what was derived from them', async () => {
      const child = await byCode(service, desktop);
      const answer = await ada.delete(`${SESSIONS}/${sessionIdOf(desktop)}`);
      expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
      expect(await Promise.all([ada, desktop, child].map(isAlive))).toEqual([true, false, false]);
      expect((await refresh(service, login.refreshToken)).status).toBe(401);
      const told = [desktop, child].map((who) => ({
        session_id: sessionIdOf(who),
        data: '{"reason":"revoked"}',
      }));
      // The answer leaves before the events of what was derived.
      await waitFor('each has its event', hangTimeoutMs(), async () => (await endings()).length > 1);
      expect(await endings()).toEqual(told);
      expect(await ada.delete(`${SESSIONS}/${sessionIdOf(desktop)}`)).toMatchObject(sessionNotFound);
      expect(await endings()).toEqual(told);
      expect((await ada.delete(`${SESSIONS}/${sessionIdOf(ada)}`)).status, 'its own').toBe(200);
      expect(await isAlive(ada)).toBe(false);
    });

    it('not those of others, nor what is none', async () => {
      const grace = await anAccount(service, 'grace');
      const ids = [sessionIdOf(grace), anUnknownId(), ada.id, 'x', '%20', "'", 'x'.repeat(1000)];
      for (const id of ids) expect(await ada.delete(`${SESSIONS}/${id}`)).toMatchObject(sessionNotFound);
      expect(await isAlive(grace)).toBe(true);
      expect(await endings()).toEqual([]);
    });
  });

  describe('are ended all but one, or all', () => {
    it('all but the one that asks, with one event; its refresh token goes on, its codes are void', async () => {
      const [child, foreign] = [await byCode(service, desktop), await byCode(service, ada)];
      const [own, others] = [await aCode(desktop), await aCode(ada)];
      const answer = await desktop.delete(SESSIONS);
      expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
      const alive = await Promise.all([desktop, ada, child, foreign].map(isAlive));
      expect(alive).toEqual([true, false, false, false]);
      for (const code of [own, others]) expect((await exchange(service, code)).status).toBe(400);
      const data = { reason: 'revoked', all: true, except: sessionIdOf(desktop), epoch: 1 };
      expect(await endings()).toEqual([{ session_id: null, data: JSON.stringify(data) }]);
      expect((await list(desktop)).map(({ id }) => id)).toEqual([sessionIdOf(desktop)]);
      const next = await refreshed(service, login.refreshToken);
      expect(await isAlive(ada.as(next.token))).toBe(true);
      expect(await isAlive(await byCode(service, ada.as(next.token)))).toBe(true);
    });

    it('all of them with ?all=true', async () => {
      expect((await desktop.delete(`${SESSIONS}?all=true`)).status).toBe(200);
      expect(await Promise.all([desktop, ada].map(isAlive))).toEqual([false, false]);
      expect((await refresh(service, login.refreshToken)).status).toBe(401);
      const data = { reason: 'revoked', all: true, epoch: 1 };
      expect(await endings()).toEqual([{ session_id: null, data: JSON.stringify(data) }]);
      expect((await aRefreshableLogin(service, ada)).token).toBeTruthy();
    });

    it.each(['no', '1', '', 'TRUE', 'true&all=true'])('not with ?all=%s', async (all) => {
      expect(await desktop.delete(`${SESSIONS}?all=${all}`)).toMatchObject(invalidFields('all'));
      expect(await Promise.all([desktop, ada].map(isAlive))).toEqual([true, true]);
    });

    it('not again: a token that has ended ends nothing', async () => {
      await desktop.delete(SESSIONS);
      for (const path of [SESSIONS, `${SESSIONS}?all=true`, `${SESSIONS}/${sessionIdOf(desktop)}`])
        expect(await ada.delete(path)).toMatchObject(invalidToken);
      expect(await isAlive(desktop)).toBe(true);
    });
  });
});

const EXPORT = '/api/me/export';

interface Exported {
  identities: object[];
  account: object;
  organizations: object[];
  secondFactor: object[];
  sessions: { id: string; via: string; revokedAt: string | null }[];
  events: { id: string; type: string; ip: string | null }[];
}

describe('the export of one’s own data', () => {
  it('holds everything about the user, and nothing secret or of others', async () => {
    const { admin, owner, org } = await anOrg(service);
    await byCode(service, admin);
    await service.db.query('UPDATE users SET second_factor_at = 1 WHERE id = ?', [admin.id]);
    const sql = "INSERT INTO second_factors (user_id, secret, enabled_at) VALUES (?, 'the sealed secret', 1)";
    await service.db.query(sql, [admin.id]);
    await service.db.query('INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)', [admin.id, 'a hash']);
    await service.db.query("UPDATE sessions SET amr = 'pwd otp' WHERE user_id = ?", [admin.id]);
    const provider = await insertProvider(service.db, { users: [admin.id] });
    const { status, headers, body, text } = await admin.get<Exported>(EXPORT);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    const lists = [
      'organizations',
      'secondFactor',
      'identities',
      'apiKeys',
      'sessions',
      'knownPlaces',
      'loginTrace',
      'events',
      'mails',
      'invitations',
    ];
    expect(Object.keys(body)).toEqual(['exportedAt', 'account', ...lists]);
    expect(body.account).toMatchObject({ id: admin.id, email: admin.email, passwordChangedAt: null });
    expect(body.secondFactor).toEqual([{ enabledAt: '1970-01-01T00:00:00.001Z', recoveryCodesLeft: 1 }]);
    const linkedAt = '1970-01-01T00:00:00.001Z';
    expect(body.identities).toEqual([{ provider: provider.name, subject: admin.id, linkedAt }]);
    expect(body.organizations).toEqual([expect.objectContaining({ id: org.id, role: 'admin' })]);
    expect(body.sessions.map(({ via }) => via).toSorted()).toEqual(['code', 'password']);
    expect(body.events.find(({ type }) => type === 'member.added')).toMatchObject({ ip: null });
    const [user] = await service.db.query('SELECT password_hash AS hash FROM users WHERE id = ?', [admin.id]);
    for (const secret of [String(user!['hash']), owner.email, admin.token, 'sealed secret', 'a hash'])
      expect(text).not.toContain(secret);
  });

  it('says when the sessions ended that ended with all others', async () => {
    const ada = await anAccount(service, 'ada');
    const again = async (): Promise<Account> => ada.as((await logIn(service, ada)).body.token);
    const began = new Date().toISOString();
    await ada.delete('/api/me/sessions?all=true');
    await again();
    const between = new Date().toISOString();
    const current = await again();
    const change = { currentPassword: ada.password, newPassword: aPassword() };
    expect((await current.put('/api/me/password', change)).status).toBe(200);
    const ended = new Date().toISOString();
    const { sessions } = (await current.get<Exported>(EXPORT)).body;
    const [first, second, third] = sessions.map(({ revokedAt }) => revokedAt);
    const inOrder = [began, first, between, second, ended];
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1)));
    expect([third, sessions.length]).toEqual([null, 3]);
  });

  it('is limited for each user, from whatever address and session', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const statuses = [1, 2, 3, 4].map(() => ada.get(EXPORT).then(({ status }) => status));
    expect((await Promise.all(statuses)).filter((status) => status === 429)).toHaveLength(1);
    expect((await grace.get(EXPORT)).status).toBe(200);
  });

  describe('that is long', () => {
    let reader: Account;
    let oldest: string;

    beforeEach(async () => {
      reader = await anAccount(service, 'reader');
      await anOrgOf(reader);
      oldest = await addLongHistory(service, reader.id);
    });

    it('is complete for a client that pauses', async () => {
      const { text, whole } = await (await PausedReader.get(service, EXPORT, reader)).readOn();
      expect([whole, text.includes(oldest)]).toEqual([true, true]);
    });

    it('is cut off for a client that logs out meanwhile', async () => {
      const stream = await PausedReader.get(service, EXPORT, reader);
      await reader.post('/api/auth/logout');
      const { text, whole } = await stream.readOn();
      expect([whole, text.includes(oldest)]).toEqual([false, false]);
    });
  });
});
