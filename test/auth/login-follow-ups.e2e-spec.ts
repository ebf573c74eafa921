import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { AuthService } from '../../src/auth/auth.service.js';
import { LoginFollowUps } from '../../src/auth/logins/login-follow-ups.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { openDataLayer } from '../support/data-source.js';
import { instancesInADuel } from '../support/engine.js';
import { recordStatements } from '../support/executed-statements.js';
import { passwordBreached } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { aVerifiedAccount } from '../support/inviting.js';
import { untilMailsAreDecided } from '../support/mail-server.js';
import { startMailing } from '../support/mailing.js';
import {
  type Account,
  anAccount,
  aPassword,
  logIn,
  logInAmongMany,
  type Session,
} from '../support/personas.js';
import { RangeServer } from '../support/range-server.js';
import { insertRow } from '../support/rows.js';
import { protect } from '../support/second-factor.js';
import { NO_LIMITS } from '../support/service.js';
import { wired } from '../support/wired.js';

const DAY_MS = 86_400_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const HOME = { address: '203.0.113.7', agent: FIREFOX };

interface From {
  address: string;
  agent?: string;
  deviceName?: string;
}

const breaches = new RangeServer();
const cluster = await startMailing(
  { ...NO_LIMITS, TRUST_PROXY: '127.0.0.1', PWNED_PASSWORDS: await breaches.start() },
  instancesInADuel,
);
afterAll(() => breaches.stop());
const { service, mailServer, instances } = cluster;
const { db } = service;

const headersOf = ({ address, agent }: From): Record<string, string> => ({
  'x-forwarded-for': address,
  ...(agent !== undefined && { 'user-agent': agent }),
});

async function registered(from: From = HOME): Promise<Account> {
  const at = { ...service, anyone: service.anyone.with(headersOf(from)) };
  const account = await anAccount(at);
  await db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [account.id]);
  return account;
}

async function logInFrom(account: Account, from: From, instance = service): Promise<Answer<Session>> {
  const { deviceName } = from;
  const anyone = instance.anyone.with(headersOf(from));
  const answer = await logInAmongMany({ anyone }, account, deviceName === undefined ? {} : { deviceName });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

const placesOf = (userId: string) =>
  db.query('SELECT network, agent, first_seen_at, last_seen_at FROM known_places WHERE user_id = ?', [
    userId,
  ]);

async function untilPlaces(userId: string, count: number): Promise<void> {
  await waitFor(`${count} places`, hangTimeoutMs(), async () => (await placesOf(userId)).length === count);
}

/** Logs in, and waits until the place is kept. */
async function logInFromNew(account: Account, from: From): Promise<void> {
  const { length } = await placesOf(account.id);
  await logInFrom(account, from);
  await untilPlaces(account.id, length + 1);
}

async function noticesTo({ email }: Account): Promise<string[]> {
  await untilMailsAreDecided(service, email);
  return mailServer.to(email).map(({ text }) => text);
}

const startsOf = async ({ id }: Account): Promise<unknown[]> => {
  const sql = "SELECT data FROM events WHERE user_id = ? AND type = 'session.started' ORDER BY id";
  return (await db.query(sql, [id])).map(({ data }) => JSON.parse(String(data)) as unknown);
};

describe('a login', () => {
  it('from a new place sends one email that says from where, and the event says it', async () => {
    const ada = await registered();
    const place = { address: '198.51.100.9', agent: CHROME, deviceName: "Ada's laptop" };
    await logInFromNew(ada, place);
    const mail = await mailServer.next(ada.email);
    expect(mail.subject).toBe('New login to your account');
    expect(mail.text).toMatch(/Time: \d\d? \w+ 20\d\d at \d\d:\d\d UTC/);
    expect(mail.text).toContain('IP address: 198.51.100.9');
    expect(mail.text).toContain('Program: Chrome on Linux');
    expect(mail.text).toContain("Device: Ada's laptop");
    expect(mail.text).toMatch(/revoke/);
    await logInFrom(ada, place);
    expect(await noticesTo(ada)).toHaveLength(1);
    expect(await startsOf(ada)).toEqual([
      { via: 'register' },
      { via: 'login', newDevice: true },
      { via: 'login' },
    ]);
  });

  it.each<[string, From, From, network: string, agent: string, isNew: boolean]>([
    [
      'another address of the /24',
      HOME,
      { ...HOME, address: '203.0.113.200' },
      '203.0.113.0/24',
      'Firefox',
      false,
    ],
    ['another /24', HOME, { ...HOME, address: '203.0.112.7' }, '203.0.112.0/24', 'Firefox', true],
    [
      'IPv4-mapped IPv6',
      HOME,
      { ...HOME, address: '::ffff:203.0.113.9' },
      '203.0.113.0/24',
      'Firefox',
      false,
    ],
    [
      'another address of the /48',
      { ...HOME, address: '2001:db8:7:1::1' },
      { ...HOME, address: '2001:db8:7:ffff::2' },
      '2001:db8:7::/48',
      'Firefox',
      false,
    ],
    [
      'another /48',
      { ...HOME, address: '2001:db8:7::1' },
      { ...HOME, address: '2001:db8:8::1' },
      '2001:db8:8::/48',
      'Firefox',
      true,
    ],
    ['another version', HOME, { ...HOME, agent: 'Firefox/141.0' }, '203.0.113.0/24', 'Firefox', false],
    ['Edge', HOME, { ...HOME, agent: `${CHROME} Edg/140.0` }, '203.0.113.0/24', 'Edge', true],
    ['Opera', HOME, { ...HOME, agent: `${CHROME} OPR/120.0` }, '203.0.113.0/24', 'Opera', true],
    ['Safari', HOME, { ...HOME, agent: 'Version/18.0 Safari/605.1.15' }, '203.0.113.0/24', 'Safari', true],
    [
      'a program',
      HOME,
      { ...HOME, agent: 'Analytical-Desktop/1.4 (Linux)' },
      '203.0.113.0/24',
      'Analytical-Desktop',
      true,
    ],
    ['a long name', HOME, { ...HOME, agent: 'x'.repeat(150) }, '203.0.113.0/24', 'x'.repeat(40), true],
    ['an odd name', HOME, { ...HOME, agent: '("<ä>' }, '203.0.113.0/24', 'unknown', true],
    ['no user agent', HOME, { address: HOME.address }, '203.0.113.0/24', 'unknown', true],
  ])('from %s is from the place %#', async (_, known, from, network, agent, isNew) => {
    const ada = await registered(known);
    await (isNew ? logInFromNew(ada, from) : logInFrom(ada, from));
    const places = await placesOf(ada.id);
    expect(places).toContainEqual(expect.objectContaining({ network, agent }));
    expect(places).toHaveLength(isNew ? 2 : 1);
    // The email commits with the place.
    expect(await db.query('SELECT kind FROM mails WHERE recipient = ?', [ada.email])).toEqual(
      isNew ? [{ kind: 'new_sign_in' }] : [],
    );
    expect((await startsOf(ada)).at(-1)).toEqual(
      isNew ? { via: 'login', newDevice: true } : { via: 'login' },
    );
  });

  it('of a user without any known place sends none, and the second place does', async () => {
    const ada = await registered();
    await db.query('DELETE FROM known_places WHERE user_id = ?', [ada.id]);
    await logInFromNew(ada, { ...HOME, agent: CHROME });
    expect(await noticesTo(ada)).toEqual([]);
    await logInFromNew(ada, HOME);
    await mailServer.next(ada.email);
  });

  it('of a user whose email is not verified sends none', async () => {
    const ada = await registered();
    await db.query('UPDATE users SET email_verified_at = NULL WHERE id = ?', [ada.id]);
    await logInFromNew(ada, { ...HOME, agent: CHROME });
    expect(await noticesTo(ada)).toEqual([]);
  });

  it('with a second factor counts when the session opens', async () => {
    const { account: ada, app } = await protect(service, await registered());
    const anyone = service.anyone.with(headersOf({ ...HOME, agent: CHROME }));
    const first = await anyone.post<{ challenge: string }>('/api/auth/login', {
      email: ada.email,
      password: ada.password,
    });
    expect(first.status).toBe(403);
    expect(await placesOf(ada.id)).toHaveLength(1);
    const { challenge } = first.body;
    const second = await anyone.post('/api/auth/login/second-factor', { challenge, code: app.next() });
    expect(second.status, second.text).toBe(200);
    await untilPlaces(ada.id, 2);
    expect((await mailServer.next(ada.email)).subject).toBe('New login to your account');
  });

  it('from a place of more than 90 days ago sends one again, and of less writes the place once a day', async () => {
    const ada = await registered();
    const seen = async (daysAgo: number): Promise<number> => {
      const at = Date.now() - daysAgo * DAY_MS;
      await db.query('UPDATE known_places SET last_seen_at = ? WHERE user_id = ?', [at, ada.id]);
      await logInFrom(ada, HOME);
      return at;
    };
    const lastSeen = async (): Promise<number> => Number((await placesOf(ada.id))[0]!['last_seen_at']);
    const untilWritten = (since: number) =>
      waitFor('the place is written', hangTimeoutMs(), async () => (await lastSeen()) > since);

    await untilWritten(await seen(89));
    expect(await noticesTo(ada)).toEqual([]);
    await untilWritten(await seen(91));
    await mailServer.next(ada.email);
    expect(await noticesTo(ada)).toHaveLength(1);
    const recent = await seen(0.9);
    await untilWritten(await seen(1.1));
    expect(recent).toBeLessThan(await lastSeen());
  });

  it('at once with 50 others from one new place sends one email, and none fails', async () => {
    const ada = await registered();
    const place = { address: '198.51.100.9', agent: CHROME };
    const answers = await atOnce(
      times(50, (index) => () => logInFrom(ada, place, instances[index % instances.length])),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(50, () => 200));
    await untilPlaces(ada.id, 2);
    await mailServer.next(ada.email);
    expect(await noticesTo(ada)).toHaveLength(1);
    for (const { logs } of instances) expect(logs.join('\n')).not.toContain('follows a login');
  });

  it('sends at most five notices a day, of concurrent ones too', async () => {
    const ada = await registered();
    await atOnce(
      times(
        12,
        (index) => () =>
          logInFrom(ada, { ...HOME, address: `198.51.${index}.1` }, instances[index % instances.length]),
      ),
    );
    await untilPlaces(ada.id, 13);
    await mailServer.next(ada.email, 5);
    expect(await noticesTo(ada)).toHaveLength(5);
  });

  it('keeps at most 50 places, without the one that was used least recently', async () => {
    const ada = await registered();
    const now = Date.now();
    for (const index of times(49, (n) => n)) {
      const place = { network: `10.0.${index}.0/24`, agent: 'curl', last_seen_at: now - index * 1000 };
      await insertRow(db, 'known_places', { user_id: ada.id, first_seen_at: 1, ...place });
    }
    await logInFrom(ada, { ...HOME, agent: CHROME });
    const agents = async (): Promise<unknown[]> =>
      (await placesOf(ada.id)).map(({ network, agent }) => `${network} ${agent}`);
    await waitFor('the place is kept', hangTimeoutMs(), async () =>
      (await agents()).includes('203.0.113.0/24 Chrome'),
    );
    await waitFor('another place is gone', hangTimeoutMs(), async () => (await agents()).length === 50);
    expect(await agents()).not.toContain('10.0.48.0/24 curl');
  });

  it('neutralizes and cuts what the client sent', async () => {
    const ada = await registered();
    const deviceName = '<b>"evil.example"</b> ‮ @everyone https://evil.example/x';
    const agent = `evil.example/1.0 "https://evil.example" ${'\\'.repeat(120)}`;
    await logInFromNew(ada, { ...HOME, agent, deviceName });
    const { text } = await mailServer.next(ada.email);
    expect(text).not.toMatch(/evil\.example|https:\/\/|["‮]|@everyone/);
    const [mail] = await db.query('SELECT details FROM mails WHERE sender_id = ?', [ada.id]);
    expect(String(mail!['details']).length).toBeLessThanOrEqual(500);
  });

  it.skipIf(instancesInADuel === 1)('waits for no row of the places', async () => {
    const ada = await registered();
    const from = Date.now() - 2 * DAY_MS;
    await db.query('UPDATE known_places SET last_seen_at = ? WHERE user_id = ?', [from, ada.id]);
    const held = await holdRows(service);
    await held.write('UPDATE known_places SET first_seen_at = 1 WHERE user_id = ?', [ada.id]);
    expect((await logInFrom(ada, HOME)).status).toBe(200);
    await held.untilOneWaits();
    await held.commit();
    await waitFor(
      'the place is written',
      hangTimeoutMs(),
      async () => Number((await placesOf(ada.id))[0]!['last_seen_at']) > from,
    );
  });
});

/** What becomes of the answers is tested by `breached-passwords.e2e-spec.ts`. */
describe('the list of breached passwords', () => {
  afterEach(() => {
    breaches.respond = undefined;
  });

  const checkedAt = async ({ id }: Account): Promise<unknown> =>
    (await service.db.query('SELECT password_checked_at AS at FROM users WHERE id = ?', [id]))[0]!['at'];

  describe('after a login', () => {
    it('is asked once in 30 days, and the user of a breached password gets one email', async () => {
      const ada = await aVerifiedAccount(service);
      breaches.breach(ada.password);
      const before = breaches.requestsOf(ada.password);
      const answers = await atOnce(times(10, () => () => logInAmongMany(service, ada)));
      expect(answers.map(({ status }) => status)).toEqual(times(10, () => 200));
      const mail = await mailServer.next(ada.email);
      expect(mail.subject).toBe('Your password is known from a data breach');
      expect((await logIn(service, ada)).status).toBe(200);
      await untilMailsAreDecided(service, ada.email);
      expect(mailServer.to(ada.email)).toHaveLength(1);
      expect(breaches.requestsOf(ada.password)).toBe(before + 1);
      const monthAgo = Date.now() - 31 * 86_400_000;
      await service.db.query('UPDATE users SET password_checked_at = ? WHERE id = ?', [monthAgo, ada.id]);
      await logIn(service, ada);
      await mailServer.next(ada.email, 2);
      expect(breaches.requestsOf(ada.password)).toBe(before + 2);
    });

    it('is asked at the first step of two', async () => {
      const { account } = await protect(service, await aVerifiedAccount(service));
      breaches.breach(account.password);
      expect((await logIn(service, account)).status).toBe(403);
      expect((await mailServer.next(account.email)).subject).toBe(
        'Your password is known from a data breach',
      );
    });

    it('is not asked about a wrong password', async () => {
      const ada = await aVerifiedAccount(service);
      const password = breaches.breach();
      expect((await logIn(service, { ...ada, email: ada.email, password })).status).toBe(401);
      expect(breaches.requestsOf(password)).toBe(0);
    });

    it('that does not answer does not count as a check, and the login does not wait for it', async () => {
      const ada = await aVerifiedAccount(service);
      let asked = false;
      const held: ServerResponse[] = [];
      breaches.respond = (response) => {
        asked = true;
        held.push(response);
      };
      expect((await logIn(service, ada)).status).toBe(200);
      await waitFor('the check has begun', hangTimeoutMs(), () => asked);
      await waitFor('the check is given back', hangTimeoutMs(), async () => (await checkedAt(ada)) === null);
      breaches.respond = undefined;
      for (const response of held) response.destroy();
      await logIn(service, ada);
      await waitFor('the check is kept', hangTimeoutMs(), async () => (await checkedAt(ada)) !== null);
    });

    it('is asked again about a new password', async () => {
      const ada = await aVerifiedAccount(service);
      await logIn(service, ada);
      await waitFor('the check is kept', hangTimeoutMs(), async () => (await checkedAt(ada)) !== null);
      const newPassword = aPassword();
      await ada.put('/api/me/password', { currentPassword: ada.password, newPassword });
      expect(await checkedAt(ada)).toBeNull();
    });
  });

  it('is asked at a reset only after the code, which a refusal does not use up', async () => {
    const ada = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email: ada.email });
    const { code } = await mailServer.next(ada.email);
    const reset = (typed: unknown, newPassword: string) =>
      service.anyone.post('/api/auth/password/reset', { email: ada.email, code: typed, newPassword });
    const password = breaches.breach();
    expect(await reset('00000-00000', password)).toMatchObject({ body: { code: 'invalid_email_code' } });
    expect(breaches.requestsOf(password)).toBe(0);
    expect(await reset(code, password)).toMatchObject(passwordBreached('newPassword'));
    expect((await reset(code, aPassword())).status).toBe(200);
  });
});

it('the places go with the user, with what a notice says of them', async () => {
  const ada = await registered();
  await logInFromNew(ada, { ...HOME, agent: CHROME });
  await mailServer.next(ada.email);
  const sent = 'SELECT details FROM mails WHERE sender_id = ?';
  expect(await db.query(sent, [ada.id])).toEqual([{ details: expect.stringContaining(HOME.address) }]);
  const exported = await ada.get<{ knownPlaces: object[] }>('/api/me/export');
  const aTime = expect.stringMatching(/^20\d\d-/) as unknown;
  expect(exported.body.knownPlaces).toEqual(
    ['Chrome', 'Firefox'].map((agent) => ({
      network: '203.0.113.0/24',
      agent,
      firstSeenAt: aTime,
      lastSeenAt: aTime,
    })),
  );
  const { status } = await ada.delete('/api/me', { password: ada.password });
  expect(status).toBe(200);
  expect(await placesOf(ada.id)).toEqual([]);
  expect(await db.query(sent, [ada.id])).toEqual([{ details: null }]);
});

describe('the statements of a login', async () => {
  const data = await openDataLayer({
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'a@example.com',
    ARGON2_MEMORY_KIB: '1024',
    ARGON2_TIME: '1',
  });
  const context = await wired(data);
  afterAll(() => data.close());
  const auth = context.get(AuthService, { strict: false });
  const client = { key: 'test', hasLeft: () => false };
  const origin = (userAgent: string) => ({ requestId: 'a-test', address: HOME.address, userAgent });
  const credentials = { email: 'ada@example.com', password: 'correct horse battery' };
  const executed = recordStatements(data.dataSource);

  async function during(userAgent: string): Promise<string[]> {
    const from = executed.length;
    await auth.login(credentials, client, origin(userAgent));
    await context.get(LoginFollowUps, { strict: false }).onApplicationShutdown();
    return executed
      .slice(from)
      .filter(({ verb }) => !/^(?:START|COMMIT|BEGIN)/.test(verb))
      .map(({ verb, table }) => `${verb} ${table ?? ''}`.replace(/\(.*/, ''));
  }

  const OF_EVERY_LOGIN = ['SELECT u.id,', 'INSERT sessions', 'INSERT events'];

  it('from a known place are none more, and one UPDATE a day', async () => {
    const { user } = await auth.register(credentials, client, origin('Firefox/1'));
    await data.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [user.id]);
    expect(await during('Firefox/2')).toEqual(OF_EVERY_LOGIN);
    await data.db.query('UPDATE known_places SET last_seen_at = ?', [Date.now() - 2 * DAY_MS]);
    expect(await during('Firefox/2')).toEqual([...OF_EVERY_LOGIN, 'UPDATE known_places']);
    expect(await during('Firefox/2')).toEqual(OF_EVERY_LOGIN);
  });

  it('from a new place write two rows more: of the place and of the email', async () => {
    const writes = (await during('curl/8')).filter((statement) => !statement.startsWith('SELECT'));
    expect(writes).toEqual(['INSERT sessions', 'INSERT events', 'INSERT known_places', 'INSERT mails']);
  });
});
