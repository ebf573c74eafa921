import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { MailServer } from '../support/mail-server.js';
import { anEmail, aPassword, type Session } from '../support/personas.js';
import type { Tokens } from '../support/refreshing.js';
import type { Reply } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';
import { insertRows } from '../support/rows.js';
import { decodeToken } from '../support/signing-keys.js';
import { closeAfterTest, countOf, ENGINES, register, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';
import { SecondFactorClient } from './support/second-factor-client.js';
import { type Deed, KILLS, startToKill } from './support/kill-rounds.js';

describe.each(ENGINES)('kill -9 on %s', { timeout: 180_000 }, (engine) => {
  it('during refresh, logout and change of the password logs nobody out, lets nobody in who was out, and leaves one password', async () => {
    const workers = 4;
    const env = { ...UNLIMITED, REFRESH_GRACE: '10m' };
    const { storage, send, ask, killDuring } = await startToKill(engine, 'sessions', env);
    const aClient = async () => {
      const [email, password] = [anEmail('client'), aPassword()];
      const body = { email, password, refresh: true };
      const refreshing = await ask<Tokens>(201, 'POST', '/api/auth/register', body);
      const acting = await ask<Tokens>(200, 'POST', '/api/auth/login', body);
      return { email, password, nextPassword: '', refreshing, acting, loggedOut: [] as string[], done: 0 };
    };
    type Client = Awaited<ReturnType<typeof aClient>>;
    const refresh = async (client: Client): Promise<void> => {
      const { refreshToken } = client.refreshing;
      client.refreshing = await ask(200, 'POST', '/api/auth/refresh', { refreshToken });
    };
    const logOut = async ({ email, password, loggedOut }: Client): Promise<void> => {
      const { token } = await ask<Session>(200, 'POST', '/api/auth/login', { email, password });
      await ask(200, 'POST', '/api/auth/logout', undefined, token);
      loggedOut.push(token);
    };
    const changePassword = async (client: Client): Promise<void> => {
      client.nextPassword = aPassword();
      const body = { currentPassword: client.password, newPassword: client.nextPassword };
      await ask(200, 'PUT', '/api/me/password', body, client.acting.token);
      [client.password, client.nextPassword] = [client.nextPassword, ''];
    };
    const me = async (token: string): Promise<number> => (await send('GET', '/api/me', { token })).status;

    let acknowledged = 0;
    let unknown = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const clients: { client: Client; deed: (client: Client) => Promise<void> }[] = [];
      for (const deed of [refresh, logOut, changePassword]) {
        for (let made = 0; made < workers; made += 1) clients.push({ client: await aClient(), deed });
      }
      const deeds = clients.map(({ client, deed }) => async () => {
        await deed(client);
        client.done += 1;
      });
      await killDuring(deeds, 50, 500);

      for (const { client, deed } of clients) {
        const { email, password, nextPassword, loggedOut, acting, done } = client;
        acknowledged += done;
        if (nextPassword !== '') unknown += 1;
        expect(await Promise.all(loggedOut.map(me))).toEqual(loggedOut.map(() => 401));
        const passwords = [password, nextPassword].filter((one) => one !== '');
        const logins = await Promise.all(
          passwords.map((one) => send('POST', '/api/auth/login', { body: { email, password: one } })),
        );
        expect(logins.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(await me(acting.token)).toBe(200);
        // Its refresh token, or the one that the dying process may have given for it.
        if (deed === refresh) await refresh(client);
        await ask(200, 'POST', '/api/auth/refresh', { refreshToken: acting.refreshToken });
      }
    }
    const unequal = await storage.query(`SELECT u.id FROM users u WHERE u.revision - 1 <>
      (SELECT COUNT(*) FROM events e WHERE e.user_id = u.id AND e.type = 'account.password_changed')`);
    expect(unequal).toEqual([]);
    const unrecorded = await storage.query(`SELECT s.id FROM sessions s WHERE (s.revoked_at IS NULL) =
      (EXISTS (SELECT 1 FROM events e WHERE e.session_id = s.id AND e.type = 'session.ended'))`);
    expect(unrecorded).toEqual([]);
    expect(acknowledged).toBeGreaterThan(KILLS * workers);
    report({ faults: KILLS, requests: acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });
  });

  it(
    'while a login with thousands of delegated sessions ends leaves each of them ended and told once, by whom and why',
    { timeout: 600_000 },
    async () => {
      /** Several pages, and those of a branch. */
      const [derived, branch] = [4100, 300];
      const endings = "events WHERE type = 'session.ended'";
      const { storage, service, send, ask, random } = await startToKill(engine, 'endings');
      const body = { email: anEmail('ada'), password: aPassword() };
      const { user } = await ask<Session>(201, 'POST', '/api/auth/register', body);
      const told = () => storage.query(`SELECT session_id, actor_type, actor_id, data FROM ${endings}`);
      const derive = (login: unknown): Promise<void> => {
        const ids = times(derived, () => randomUUIDv7()).toSorted();
        const rows = ids.map((id, place) => ({
          id,
          branch_id: ids[place - (place % branch)]!,
          code_hash: id,
        }));
        return insertRows(storage.installation.db, 'sessions', rows, {
          user_id: user.id,
          login_id: String(login),
        });
      };

      let interrupted = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const { token } = await ask<Session>(200, 'POST', '/api/auth/login', body);
        await derive(decodeToken(token).claims['sid']);
        const before = await countOf(storage, endings);
        const until = before + random.between(1, derived - 500);
        const answer = send('POST', '/api/auth/logout', { token }).catch(() => undefined);
        const someHaveEnded = async () => (await countOf(storage, endings)) >= until;
        await waitFor('some have ended', hangTimeoutMs(), someHaveEnded, 1);
        await service.kill();
        await answer;
        if ((await countOf(storage, endings)) - before <= derived) interrupted += 1;
        await service.start(hangTimeoutMs());
      }
      const isCompleted = async () => (await countOf(storage, 'pending_revocations')) === 0;
      await waitFor('what was interrupted is completed', 3 * hangTimeoutMs(), isCompleted);

      expect(await countOf(storage, 'sessions WHERE revoked_at IS NULL')).toBe(1);
      const events = await told();
      expect(events).toHaveLength(KILLS * (derived + 1));
      expect(new Set(events.map((event) => event['session_id'])).size).toBe(events.length);
      const ways = events.map((event) => [event['actor_type'], event['actor_id'], event['data']].join());
      expect([...new Set(ways)]).toEqual([`user,${user.id},{"reason":"logout"}`]);
      expect(interrupted).toBeGreaterThan(KILLS / 2);
      report({ faults: KILLS, requests: KILLS, wrong: 0, acknowledged: events.length, lost: 0 });
    },
  );

  it('while second factors are set up, renewed, shown and removed leaves each on or off, with the recovery codes that were shown or none that work, and a code used for a session or not', async () => {
    const workers = 8;
    const { storage, send, ask, killDuring } = await startToKill(engine, 'second factors');
    const clients: SecondFactorClient[] = [];
    for (let made = 0; made < workers; made += 1) {
      const body = { email: anEmail('client'), password: aPassword() };
      const { token } = await ask<Session>(201, 'POST', '/api/auth/register', body);
      clients.push(new SecondFactorClient(send, ask, body, token));
    }
    /** Accounts whose rows and record do not all say the same. */
    const halves = () =>
      storage.query(`SELECT u.id FROM users u
        LEFT JOIN second_factors f ON f.user_id = u.id AND f.enabled_at IS NOT NULL
        WHERE COALESCE(u.second_factor_at, 0) <> COALESCE(f.enabled_at, 0)
          OR (u.second_factor_at IS NULL) <> ((SELECT COUNT(*) FROM recovery_codes c WHERE c.user_id = u.id) = 0)
          OR (SELECT COUNT(*) FROM sessions s WHERE s.user_id = u.id AND s.auth_epoch = u.auth_epoch
            AND (s.amr = 'pwd otp') <> (u.second_factor_at IS NOT NULL)) > 0
          OR (CASE WHEN u.second_factor_at IS NULL THEN 0 ELSE 1 END) <>
            (SELECT COUNT(*) FROM events e WHERE e.user_id = u.id AND e.type = 'account.second_factor_enabled') -
            (SELECT COUNT(*) FROM events e WHERE e.user_id = u.id AND e.type = 'account.second_factor_removed')`);
    let unknown = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const deeds = clients.map((client) => () => client.goRound());
      await killDuring(deeds, 300, 1200);
      unknown += clients.filter((client) => client.unknown !== undefined).length;
      expect(await halves()).toEqual([]);
      for (const client of clients) await client.check();
    }
    const acknowledged = clients.reduce((sum, client) => sum + client.acknowledged, 0);
    expect(await halves()).toEqual([]);
    expect(acknowledged).toBeGreaterThan(KILLS * workers);
    expect(unknown).toBeGreaterThan(0);
    report({ faults: KILLS, requests: acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });
  });

  it('while accounts are recovered, verified and moved leaves one password and one e-mail, and nothing without its event', async () => {
    const mailServer = await closeAfterTest(MailServer.start());
    const env = { ...UNLIMITED, RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off', ...mailServer.env };
    const { storage, send, ask, killDuring } = await startToKill(engine, 'mailed codes', env);
    const people: {
      email: string;
      nextEmail?: string;
      password: string;
      nextPassword?: string;
      done: boolean;
    }[] = [];
    const aPerson = async () => {
      const [email, password] = [anEmail(), aPassword()];
      const { token } = await ask<Session>(201, 'POST', '/api/auth/register', { email, password });
      const person: (typeof people)[number] = { email, password, done: false };
      people.push(person);
      return { person, email, password, token };
    };
    const codeTo = async (email: string, isOver: () => boolean): Promise<string> => {
      for (; !isOver(); await sleep(10)) {
        const code = mailServer.to(email).find((mail) => mail.code !== undefined)?.code;
        if (code !== undefined) return code;
      }
      throw new Error('the service is gone');
    };
    const reset: Deed = async (isOver) => {
      const { person, email } = await aPerson();
      await ask(202, 'POST', '/api/auth/password/forgot', { email });
      const code = await codeTo(email, isOver);
      const newPassword = (person.nextPassword = aPassword());
      await ask(200, 'POST', '/api/auth/password/reset', { email, code, newPassword });
      Object.assign(person, { password: newPassword, done: true });
    };
    const verify: Deed = async (isOver) => {
      const { person, email, token } = await aPerson();
      await ask(202, 'POST', '/api/me/email/verification', {}, token);
      await ask(200, 'POST', '/api/me/email/verify', { code: await codeTo(email, isOver) }, token);
      person.done = true;
    };
    const move: Deed = async (isOver) => {
      const { person, password, token } = await aPerson();
      const nextEmail = anEmail('moved');
      await ask(202, 'PUT', '/api/me/email', { email: nextEmail, password }, token);
      const code = await codeTo(nextEmail, isOver);
      person.nextEmail = nextEmail;
      await ask(200, 'POST', '/api/me/email/verify', { code }, token);
      Object.assign(person, { email: nextEmail, done: true });
    };
    const deeds = [reset, verify, move].flatMap((deed) => times(3, () => deed));
    for (let kill = 0; kill < KILLS; kill += 1) await killDuring(deeds, 1500, 3500);

    const ways: number[] = [];
    for (const { email, nextEmail = email, password, nextPassword = password } of people) {
      const attempts = [...new Set([email, nextEmail])].flatMap((one) =>
        [...new Set([password, nextPassword])].map((other) => ({ email: one, password: other })),
      );
      const logins = await Promise.all(attempts.map((body) => send('POST', '/api/auth/login', { body })));
      ways.push(logins.filter(({ status }) => status === 200).length);
    }
    expect(ways).toEqual(people.map(() => 1));
    const verified = await storage.query('SELECT email FROM users WHERE email_verified_at IS NOT NULL');
    const emails = new Set(verified.map(({ email }) => email));
    const acknowledged = people.filter(({ done }) => done);
    expect(acknowledged.filter(({ email }) => !emails.has(email))).toEqual([]);
    const unequal = await storage.query(`SELECT u.id FROM users u WHERE u.revision <>
      (SELECT COUNT(*) FROM events e WHERE e.user_id = u.id AND e.type LIKE 'account.%')`);
    expect(unequal).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(0);
    report({ faults: KILLS, requests: people.length, wrong: 0, acknowledged: acknowledged.length, lost: 0 });
  });

  it('during exchanges of codes for one service leaves of each code one session or a code that is good', async () => {
    const workers = 6;
    const { storage, send, ask, killDuring } = await startToKill(engine, 'bound codes');
    const [right, wrong] = [
      await aServiceClient(storage.installation.db),
      await aServiceClient(storage.installation.db),
    ];
    const exchange = (code: string, { authorization } = right): Promise<Reply> =>
      send('POST', '/api/auth/code/exchange', { headers: { authorization }, body: { code } });
    const tokenOf = ({ status, body }: Reply): string => {
      if (status !== 200) throw new Error(`an exchange was answered ${status}`);
      return String(body['token']);
    };
    let acknowledged = 0;
    let unknown = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const clients = times(workers, () => ({
        token: '',
        opened: [] as string[],
        unused: [] as string[],
        unanswered: [] as string[],
      }));
      const step = async (client: (typeof clients)[number]): Promise<void> => {
        const audience = { audience: right.name };
        const { code } = await ask<{ code: string }>(201, 'POST', '/api/auth/code', audience, client.token);
        client.unused = [code];
        if ((await exchange(code, wrong)).status !== 400) throw new Error('another service was not refused');
        Object.assign(client, { unused: [], unanswered: [code] });
        client.opened.push(tokenOf(await exchange(code)));
        client.unanswered = [];
      };
      for (const client of clients) {
        ({ token: client.token } = await register(send));
        await step(client);
      }
      const deeds = clients.map((client) => () => step(client));
      await killDuring(deeds, 50, 400);
      for (const { opened, unused, unanswered } of clients) {
        acknowledged += opened.length;
        for (const code of unanswered) {
          unknown += 1;
          const before = await countOf(storage, 'sessions');
          expect((await exchange(code, wrong)).status).toBe(400);
          const reply = await exchange(code);
          // It was good, or has opened the one session that the second exchange ends.
          expect([200, 400]).toContain(reply.status);
          expect((await countOf(storage, 'sessions')) - before).toBe(reply.status === 200 ? 1 : 0);
          if (reply.status === 200) opened.push(tokenOf(reply));
        }
        for (const code of unused) opened.push(tokenOf(await exchange(code)));
        const answers = await Promise.all(opened.map((token) => send('GET', '/api/me', { token })));
        expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      }
    }
    const hashes = (await storage.snapshot()).sessions.flatMap(({ codeHash }) => codeHash ?? []);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(await countOf(storage, 'sessions WHERE code_hash IS NOT NULL AND bound_epoch IS NULL')).toBe(0);
    expect(acknowledged).toBeGreaterThan(KILLS * workers);
    expect(unknown).toBeGreaterThan(0);
    report({ faults: KILLS, requests: 2 * acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });
  });
});
