import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import {
  invalidCode,
  invalidFields,
  invalidRefreshToken,
  invalidToken,
  unauthorized,
} from '../support/expected.js';
import type { Account, Session } from '../support/personas.js';
import {
  aCode,
  anAccount,
  anEmail,
  aPassword,
  byCode,
  exchange,
  isAlive,
  logIn,
} from '../support/personas.js';
import {
  aRefreshableLogin,
  partsOf,
  refresh,
  refreshed,
  type Tokens,
  untilUsed,
  use,
} from '../support/refreshing.js';
import type { Cluster, Service } from '../support/service.js';
import { NO_LIMITS, startCluster, startOwnService, startSharedCluster } from '../support/service.js';
import { holdRows } from '../support/held-rows.js';
import { addDerivedSessions } from '../support/rows.js';
import { decodeToken, sessionIdOf, signToken } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { aheadBy } from '../support/clock.js';
import { engine, instancesInARace, roundsOfARace } from '../support/engine.js';

const LOGOUT = '/api/auth/logout';
const LIVE_LIMIT = 1000;
/** Every 32nd session that is opened looks. The registration counts, too. */
const EXCHANGES = 31;
const EXCESS = 50;

const shared = await startSharedCluster();
const service = shared.instances[0]!;

let ada: Account;
beforeEach(async () => {
  ada = await anAccount(service, 'ada');
});

const alive = (...sessions: Account[]): Promise<boolean[]> => Promise.all(sessions.map(isAlive));

describe('a session', () => {
  const registerAgain = (email: string) =>
    service.anyone.post<Session>('/api/auth/register', { email, password: aPassword() });

  it.each([
    ['revoked', 'UPDATE sessions SET revoked_at = 1 WHERE id = ?'],
    ['gone', 'DELETE FROM sessions WHERE id = ?'],
  ])('that is %s is dead, and so is one derived from it that is not revoked itself', async (_what, sql) => {
    const derived = await byCode(service, ada);
    const code = await aCode(derived);
    await service.db.query(sql, [sessionIdOf(ada)]);
    expect(await alive(ada, derived)).toEqual([false, false]);
    expect(await derived.post('/api/auth/code')).toMatchObject(invalidToken);
    expect(await exchange(service, code)).toMatchObject(invalidCode);
  });

  it.each([
    ['is disabled', 'UPDATE users SET disabled_at = 1 WHERE id = ?'],
    ['has all sessions ended', 'UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?'],
  ])('of a user who %s is refused at the next request, like its codes', async (_what, sql) => {
    const derived = await byCode(service, ada);
    const code = await aCode(ada);
    expect(await alive(ada, derived)).toEqual([true, true]);
    await service.db.query(sql, [ada.id]);
    expect(await alive(ada, derived)).toEqual([false, false]);
    expect(await exchange(service, code)).toMatchObject(invalidCode);
  });

  it('that cannot be looked up gives 500, not 401', async () => {
    await service.db.query('ALTER TABLE sessions RENAME TO hidden');
    try {
      expect(await ada.get('/api/me')).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    } finally {
      await service.db.query('ALTER TABLE hidden RENAME TO sessions');
    }
    expect(await isAlive(ada)).toBe(true);
  });

  it('is not inherited by the next user of the e-mail', async () => {
    await service.db.query('DELETE FROM users WHERE id = ?', [ada.id]);
    const heir = await registerAgain(ada.email);
    expect(heir.status).toBe(201);
    expect(heir.body.user.id).not.toBe(ada.id);
    expect(await isAlive(ada)).toBe(false);
  });

  it('of an old token stays with its user when the e-mail moves to another', async () => {
    const email = `new-${ada.email}`;
    await service.db.query('UPDATE users SET email = ? WHERE id = ?', [email, ada.id]);
    expect((await registerAgain(ada.email)).status).toBe(201);
    expect((await ada.get('/api/me')).body).toEqual({ user: { id: ada.id, email }, orgs: [] });
  });
});

describe('the live sessions of a user', () => {
  async function live(): Promise<{ id: string; login_id: string | null }[]> {
    const rows = await service.db.query(
      'SELECT id, login_id FROM sessions WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ? ORDER BY id',
      [ada.id, Date.now()],
    );
    return rows as { id: string; login_id: string | null }[];
  }

  it('are 1,000 at most: beyond, the oldest that codes opened end, and no login does', async () => {
    const older = await addDerivedSessions(service.db, ada, LIVE_LIMIT + EXCESS - EXCHANGES - 1);
    const logins = older.slice(0, 5);
    const derived = older.slice(5);
    await service.db.query(
      `UPDATE sessions SET login_id = NULL, branch_id = NULL, code_hash = NULL WHERE id IN (?, ?, ?, ?, ?)`,
      logins,
    );
    const opened: Account[] = [];
    for (const _ of times(EXCHANGES, () => 0)) opened.push(await byCode(service, ada));

    await waitFor('the oldest have ended', hangTimeoutMs(), async () => (await live()).length === LIVE_LIMIT);

    const left = await live();
    expect(left.filter(({ login_id: login }) => login === null)).toHaveLength(6);
    const ids = left.map(({ id }) => id);
    expect(ids).not.toContain(derived[EXCESS - 1]);
    expect(ids).toContain(derived[EXCESS]);
    const rows = () => service.db.query('SELECT id FROM sessions WHERE user_id = ?', [ada.id]);
    await waitFor('they are deleted', hangTimeoutMs(), async () => (await rows()).length === LIVE_LIMIT);
    expect(await alive(...opened)).toEqual(opened.map(() => true));
    const events = await service.db.query(
      "SELECT actor_type, data FROM events WHERE user_id = ? AND type = 'session.ended'",
      [ada.id],
    );
    expect(events).toEqual(times(EXCESS, () => ({ actor_type: 'system', data: '{"reason":"too_many"}' })));
  });
});

describe('a logout', () => {
  let login: Tokens;
  let desktop: Account;

  beforeEach(async () => {
    login = await aRefreshableLogin(service, ada);
    desktop = ada.as(login.token);
  });

  const endings = () =>
    service.db.query(
      `SELECT actor_type, actor_id, actor_session_id, session_id, data FROM events
        WHERE type = 'session.ended' AND user_id = ?`,
      [ada.id],
    );
  const by = (session: Account, ended = session) => ({
    actor_type: 'user',
    actor_id: ada.id,
    actor_session_id: sessionIdOf(session),
    session_id: sessionIdOf(ended),
    data: '{"reason":"logout"}',
  });

  it('ends the session of the token and all that was derived from it, and no other', async () => {
    const first = await byCode(service, desktop);
    const second = await byCode(service, first);
    const unused = await aCode(desktop);
    expect(await desktop.post(LOGOUT)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await alive(ada, desktop, first, second)).toEqual([true, false, false, false]);
    expect(await exchange(service, unused)).toMatchObject(invalidCode);
    expect(await refresh(service, login.refreshToken)).toMatchObject(invalidRefreshToken);
    const ended = await endings();
    expect(ended).toHaveLength(3);
    expect(ended).toEqual(
      expect.arrayContaining([desktop, first, second].map((session) => by(desktop, session))),
    );
  });

  it.runIf(engine === 'mariadb')(
    'is completed by another instance if its own is killed after the answer',
    async () => {
      const doomed = await startOwnService({ installation: shared.installation, env: NO_LIMITS });
      const derived = await byCode(service, desktop);
      const held = await holdRows(service);
      await held.write('UPDATE sessions SET service = service WHERE id = ?', [sessionIdOf(derived)]);
      expect((await desktop.at(doomed).post(LOGOUT)).status).toBe(200);
      await doomed.kill();
      // As if its clock had been ahead.
      const ahead = Date.now() + 3_600_000;
      await shared.db.query('UPDATE pending_revocations SET since = ? WHERE user_id = ?', [ahead, ada.id]);
      await held.commit();
      const both = [by(desktop), by(desktop, derived)];
      await expect.poll(endings, { timeout: hangTimeoutMs() }).toEqual(expect.arrayContaining(both));
      expect(await endings()).toHaveLength(2);
    },
  );

  it('works with a refresh token alone, of any generation, whatever token is sent', async () => {
    const next = await refreshed(service, login.refreshToken);
    const expired = service.anyone.withToken('not.a.token');
    const answer = await expired.post(LOGOUT, { refreshToken: login.refreshToken });
    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expect(await alive(ada.as(next.token), ada)).toEqual([false, true]);
    expect(await endings()).toEqual([by(desktop)]);
  });

  it('ends the session of the refresh token, not that of the token beside it', async () => {
    expect((await ada.post(LOGOUT, { refreshToken: login.refreshToken })).status).toBe(200);
    expect(await alive(ada, desktop)).toEqual([true, false]);
  });

  it('with a refresh token is done, not refused, where the session has ended or is gone', async () => {
    const { refreshToken } = login;
    await service.anyone.post(LOGOUT, { refreshToken });
    expect((await service.anyone.post(LOGOUT, { refreshToken })).status).toBe(200);
    await service.db.query('DELETE FROM sessions WHERE id = ?', [sessionIdOf(login)]);
    expect((await service.anyone.post(LOGOUT, { refreshToken })).status).toBe(200);
    expect(await endings()).toHaveLength(1);
  });

  it('of a session that a code opened leaves the login that issued the code', async () => {
    const first = await byCode(service, ada);
    const second = await byCode(service, first);
    expect((await first.post(LOGOUT, {})).status).toBe(200);
    expect(await alive(ada, first, second)).toEqual([true, false, false]);
  });

  it('is refused without anything to log out, and ends nothing', async () => {
    expect(await service.anyone.post(LOGOUT)).toMatchObject(unauthorized);
    expect(await service.anyone.post(LOGOUT, {})).toMatchObject(unauthorized);
    const [key] = service.installation.keys;
    for (const token of ['not.a.token', signToken({ alg: 'ES256', typ: 'at+jwt', kid: 'other' }, {}, key!)])
      expect(await service.anyone.withToken(token).post(LOGOUT, {})).toMatchObject(invalidToken);
    await ada.post(LOGOUT);
    expect(await ada.post(LOGOUT)).toMatchObject(invalidToken);
  });

  it('is refused with a forged refresh token, even of somebody who is signed in', async () => {
    const { sessionId, mac } = partsOf(login.refreshToken);
    for (const refreshToken of ['', 'x', `${sessionId}.2.${mac}`, 'x'.repeat(10_000)])
      expect(await ada.post(LOGOUT, { refreshToken })).toMatchObject(invalidRefreshToken);
    expect(await alive(ada, desktop)).toEqual([true, true]);
  });

  it.each([[null], [0], [['a']], [{}]])('is refused with the refresh token %j', async (refreshToken) => {
    expect(await ada.post(LOGOUT, { refreshToken })).toMatchObject(invalidFields('refreshToken'));
    expect(await isAlive(ada)).toBe(true);
  });
});

const ACCESS_TOKEN_TTL = 900;
const IDLE_MS = 14 * 86_400_000;
const MAX_AGE_MS = 30 * 86_400_000;
const GRACE_MS = 30_000;
const ROUNDS = roundsOfARace(10);
const WINDOWS = 50;
const PAIRS = 20;

describe('a refresh token', () => {
  let login: Tokens;

  beforeEach(async () => {
    login = await aRefreshableLogin(service, ada);
  });

  const claimsOf = ({ token }: Pick<Tokens, 'token'>) =>
    decodeToken(token).claims as { sid: string; iat: number; exp: number; auth_time: number };
  const works = ({ token }: { token: string }) => isAlive(ada.as(token));
  const change = (what: string, ...values: number[]) =>
    service.db.query(`UPDATE sessions SET ${what} WHERE id = ?`, [...values, sessionIdOf(login)]);
  async function row(): Promise<Record<string, unknown>> {
    const [found] = await service.db.query('SELECT * FROM sessions WHERE id = ?', [sessionIdOf(login)]);
    return found!;
  }
  const endings = () =>
    service.db.query(
      `SELECT actor_type, actor_id, user_id, session_id, data FROM events
        WHERE type = 'session.ended' AND session_id = ?`,
      [sessionIdOf(login)],
    );

  async function loggedLine(text: string): Promise<unknown> {
    const isIt = (line: string): boolean => line.includes(text) && line.includes(sessionIdOf(login));
    await waitFor(`the log says: ${text}`, hangTimeoutMs(), () => service.logs.some(isIt));
    return JSON.parse(service.logs.find(isIt)!);
  }

  it('comes only with a login or registration that asks for it', async () => {
    const plain = (await logIn(service, ada)).body;
    expect(Object.keys(plain).toSorted()).toEqual(['token', 'user']);
    expect(claimsOf(plain).exp - claimsOf(plain).iat).toBe(86_400);
    const declined = (await logIn(service, ada, { refresh: false })).body;
    expect(Object.keys(declined).toSorted()).toEqual(['token', 'user']);
    const credentials = { email: anEmail(), password: aPassword(), refresh: true };
    const registered = await service.anyone.post<Tokens>('/api/auth/register', credentials);
    expect(registered.status).toBe(201);
    for (const body of [registered.body, login]) {
      expect(Object.keys(body).toSorted()).toEqual(['expiresAt', 'refreshToken', 'token', 'user']);
      expect(claimsOf(body).exp - claimsOf(body).iat).toBe(ACCESS_TOKEN_TTL);
      expect(Date.parse(body.expiresAt)).toBe(claimsOf(body).exp * 1000);
      expect(partsOf(body.refreshToken)).toMatchObject({ sessionId: claimsOf(body).sid, generation: 1 });
    }
    expect(await refreshed(service, registered.body.refreshToken)).toBeTruthy();
  });

  it.each([['true'], [1], [null], [[]], [{}]])('is not asked for by %j', async (asked) => {
    const { email, password } = ada;
    for (const path of ['login', 'register']) {
      const body = { email, password, refresh: asked };
      expect(await service.anyone.post(`/api/auth/${path}`, body)).toMatchObject(invalidFields('refresh'));
    }
  });

  it('is not given for a code', async () => {
    const { status, body } = await exchange(service, await aCode(ada.as(login.token)), { refresh: true });
    expect([status, Object.keys(body)]).toEqual([200, ['token']]);
  });

  it('gets a new token of the same login, and its successor', async () => {
    const next = await refreshed(service, login.refreshToken);
    expect(Object.keys(next).toSorted()).toEqual(['expiresAt', 'refreshToken', 'token']);
    expect(partsOf(next.refreshToken)).toMatchObject({ sessionId: sessionIdOf(login), generation: 2 });
    const [before, after] = [claimsOf(login), claimsOf(next)];
    expect([after.sid, after.auth_time]).toEqual([before.sid, before.auth_time]);
    expect(after.exp - after.iat).toBe(ACCESS_TOKEN_TTL);
    expect(Math.abs(after.iat * 1000 - Date.now())).toBeLessThan(600_000);
    expect([await works(login), await works(next)]).toEqual([true, true]);
    expect(partsOf((await refreshed(service, next.refreshToken)).refreshToken).generation).toBe(3);
    expect(await endings()).toEqual([]);
  });

  it('moves the end of the session to SESSION_IDLE from then, SESSION_MAX_AGE after the login at the latest', async () => {
    await change('expires_at = ?, auth_time = auth_time - ?', Date.now() + 60_000, 86_400_000);
    const before = Date.now();
    await refreshed(service, login.refreshToken);
    const idleEnd = Number((await row())['expires_at']);
    expect(idleEnd).toBeGreaterThanOrEqual(before + IDLE_MS);
    expect(idleEnd).toBeLessThanOrEqual(Date.now() + IDLE_MS);
    const nearlyOver = Date.now() - MAX_AGE_MS + 600_000;
    await change('auth_time = ?, refresh_generation = 1', nearlyOver);
    const last = await refreshed(service, login.refreshToken);
    expect(Number((await row())['expires_at'])).toBe(nearlyOver + MAX_AGE_MS);
    expect(claimsOf(last).exp).toBe(Math.floor((nearlyOver + MAX_AGE_MS) / 1000));
    expect(await works(last)).toBe(true);
  });

  it('gives no token past the end of its session in the grace, either', async () => {
    await refreshed(service, login.refreshToken);
    const end = Date.now() + 60_000;
    await change('expires_at = ?', end);
    expect(claimsOf(await refreshed(service, login.refreshToken)).exp).toBe(Math.floor(end / 1000));
  });

  it('that has been used gets equally good ones for the grace, of the one generation', async () => {
    const first = await refreshed(service, login.refreshToken);
    await change('rotated_at = rotated_at - ?', GRACE_MS - 20_000);
    const again = await refreshed(service, login.refreshToken);
    expect(partsOf(again.refreshToken)).toEqual(partsOf(first.refreshToken));
    expect([await works(first), await works(again)]).toEqual([true, true]);
    expect(await row()).toMatchObject({ refresh_generation: 2 });
    expect(partsOf((await refreshed(service, again.refreshToken)).refreshToken).generation).toBe(3);
  });

  it('that was used before the grace ends the session and what its codes opened', async () => {
    const next = await refreshed(service, login.refreshToken);
    const opened = await byCode(service, ada.as(next.token));
    await untilUsed(service, next.refreshToken);
    await change('rotated_at = rotated_at - ?', GRACE_MS + 1000);
    expect(await refresh(service, login.refreshToken)).toMatchObject(invalidRefreshToken);
    expect(await Promise.all([login, next, opened, ada].map(works))).toEqual([false, false, false, true]);
    expect(await refresh(service, next.refreshToken)).toMatchObject(invalidRefreshToken);
    const ended = {
      actor_type: 'system',
      actor_id: null,
      user_id: ada.id,
      session_id: sessionIdOf(login),
      data: '{"reason":"refresh_reused"}',
    };
    expect(await endings()).toEqual([ended]);
    // Ended is ended: no second row, whatever comes.
    await refresh(service, login.refreshToken);
    expect(await endings()).toEqual([ended]);
    expect(await loggedLine('refresh token reused')).toMatchObject({ level: 40 });
  });

  it('two generations old ends the session within the grace', async () => {
    const second = await refreshed(service, login.refreshToken);
    const third = await refreshed(service, second.refreshToken);
    expect(await refresh(service, login.refreshToken)).toMatchObject(invalidRefreshToken);
    expect([await works(second), await works(third)]).toEqual([false, false]);
  });

  it('newer than its session ends nothing, and is an error in the log', async () => {
    const next = await refreshed(service, login.refreshToken);
    await change('refresh_generation = 1');
    expect(await refresh(service, next.refreshToken)).toMatchObject(invalidRefreshToken);
    expect(await works(next)).toBe(true);
    expect(await row()).toMatchObject({ refresh_generation: 1, revoked_at: null });
    expect(await loggedLine('refresh token newer')).toMatchObject({ level: 50 });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['was revoked', () => change('revoked_at = 1')],
    ['is idle for too long', () => change('expires_at = ?', Date.now() - 1)],
    ['is of a login before SESSION_MAX_AGE', () => change('auth_time = ?', Date.now() - MAX_AGE_MS - 1)],
    ['is gone', () => service.db.query('DELETE FROM sessions WHERE id = ?', [sessionIdOf(login)])],
    [
      'is of a disabled user',
      () => service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]),
    ],
    ['is of another epoch', () => service.db.query('UPDATE users SET auth_epoch = 5 WHERE id = ?', [ada.id])],
  ])('of a session that %s is refused, before a refresh and in its grace', async (_what, end) => {
    const next = await refreshed(service, login.refreshToken);
    await end();
    for (const { refreshToken } of [next, login])
      expect(await refresh(service, refreshToken)).toMatchObject(invalidRefreshToken);
    const sql = 'SELECT refresh_generation FROM sessions WHERE id = ?';
    const left = await service.db.query(sql, [sessionIdOf(login)]);
    expect(left).toEqual(left.map(() => ({ refresh_generation: 2 })));
    expect(await endings()).toEqual([]);
  });

  it('that is forged in any part is refused, and ends nothing', async () => {
    const other = await aRefreshableLogin(service, ada);
    const { sessionId, generation, mac } = partsOf(login.refreshToken);
    await refreshed(service, login.refreshToken);
    await change('rotated_at = 1');
    const forged = [
      `${sessionId}.${generation}.${partsOf(other.refreshToken).mac}`,
      `${sessionIdOf(other)}.${generation}.${mac}`,
      `${sessionId}.${generation + 1}.${mac}`,
      `${sessionId}.${generation}.${'A'.repeat(43)}`,
      `${sessionId}.${generation}.${mac.slice(1)}`,
      `${sessionId}.0${generation}.${mac}`,
      `${sessionId}.${generation}.${mac}.`,
      `${sessionId}.${'9'.repeat(10_000)}.${mac}`,
    ];
    const altered = [` ${login.refreshToken}`, `${login.refreshToken}\n`, login.refreshToken.toUpperCase()];
    for (const text of [...forged, ...altered, login.token, sessionId, '', '..', 'x'.repeat(15_000)])
      expect(await refresh(service, text), text).toMatchObject(invalidRefreshToken);
    expect(await row()).toMatchObject({ revoked_at: null, refresh_generation: 2 });
  });

  it.each([[undefined], [null], [0], [true], [['a']], [{ $gt: '' }]])(
    'of the type of %j is refused',
    async (refreshToken) => {
      expect(await service.anyone.post('/api/auth/refresh', { refreshToken })).toMatchObject(
        invalidFields('refreshToken'),
      );
    },
  );

  it('notes the address and the client of its login', async () => {
    const client = service.anyone.with({ 'user-agent': `Desktop\t1.0 ${'x'.repeat(300)}` });
    login = await aRefreshableLogin({ anyone: client }, ada);
    expect(await row()).toMatchObject({ ip: '127.0.0.1', user_agent: `Desktop1.0 ${'x'.repeat(188)}` });
  });
});

describe('one refresh token in many windows', () => {
  const on = (place: number): Service => shared.instances[place % shared.instances.length]!;

  it('takes one step, and every window gets tokens that work everywhere', async () => {
    let { refreshToken } = await aRefreshableLogin(on(0), ada);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { sessionId, generation } = partsOf(refreshToken);
      const answers = await atOnce(times(WINDOWS, (window) => () => refresh(on(window), refreshToken)));
      expect(answers.map(({ status }) => status)).toEqual(times(WINDOWS, () => 200));
      const generations = answers.map(({ body }) => partsOf(body.refreshToken).generation);
      expect(new Set(generations)).toEqual(new Set([generation + 1]));
      const sql = 'SELECT refresh_generation, revoked_at FROM sessions WHERE id = ?';
      const rows = await service.db.query(sql, [sessionId]);
      expect(rows).toEqual([{ refresh_generation: generation + 1, revoked_at: null }]);
      const uses = await Promise.all(
        answers.map(({ body }, place) => isAlive(ada.as(body.token).at(on(place + 1)))),
      );
      expect(uses).toEqual(times(WINDOWS, () => true));
      refreshToken = answers[round % WINDOWS]!.body.refreshToken;
    }
  });

  it('ends with its session once where many thieves come late', async () => {
    const login = await aRefreshableLogin(on(0), ada);
    const next = await refreshed(on(1), login.refreshToken);
    const { refreshToken } = next;
    const { sessionId } = partsOf(refreshToken);
    await use(on(2), next);
    await service.db.query('UPDATE sessions SET rotated_at = 1 WHERE id = ?', [sessionId]);
    const answers = await atOnce(times(WINDOWS, (place) => () => refresh(on(place), login.refreshToken)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect((await refresh(on(0), refreshToken)).status).toBe(401);
    const sql = "SELECT id FROM events WHERE session_id = ? AND type = 'session.ended'";
    expect(await service.db.query(sql, [sessionId])).toHaveLength(1);
  });
});

describe('one refresh token used twice', () => {
  const A_MINUTE_BEHIND = { NODE_OPTIONS: aheadBy(-60_000) };
  let cluster: Cluster;
  let eve: Account;

  beforeAll(async () => {
    cluster = await startCluster(instancesInARace, {
      env: { ...NO_LIMITS, REFRESH_GRACE: '0s' },
      envs: [{}, A_MINUTE_BEHIND, { ...A_MINUTE_BEHIND, REFRESH_GRACE: '30s' }],
    });
    eve = await anAccount(cluster.instances[0]!, 'eve');
  });
  afterAll(() => cluster.stop());

  it('at the same moment is accepted once without a grace, also by an instance whose clock is a minute behind', async () => {
    const [here, there = here] = cluster.instances;
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const logins: Tokens[] = [];
      while (logins.length < PAIRS) logins.push(await aRefreshableLogin(here!, eve));
      const answers = await atOnce(
        logins.flatMap(({ refreshToken }) => [here!, there!].map((on) => () => refresh(on, refreshToken))),
      );
      for (let pair = 0; pair < answers.length; pair += 2) {
        const statuses = answers.slice(pair, pair + 2).map(({ status }) => status);
        outcomes.add(statuses.toSorted((a, b) => a - b).join(' '));
      }
    }
    expect(outcomes).toContain('200 401');
    // The second use can end the session before the first one is answered.
    expect([...outcomes].filter((outcome) => !['200 401', '401 401'].includes(outcome))).toEqual([]);
  });

  it.runIf(engine === 'mariadb')(
    'after the grace is refused by an instance whose clock is a minute behind',
    async () => {
      const [here, , behind] = cluster.instances;
      const login = await aRefreshableLogin(here!, eve);
      await use(here!, await refreshed(here!, login.refreshToken));
      expect((await refresh(behind!, login.refreshToken)).status).toBe(200);
      await cluster.db.query('UPDATE sessions SET rotated_at = rotated_at - 31000 WHERE id = ?', [
        partsOf(login.refreshToken).sessionId,
      ]);
      expect((await refresh(behind!, login.refreshToken)).status).toBe(401);
    },
  );
});
