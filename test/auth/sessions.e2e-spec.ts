import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import {
  invalidCode,
  invalidFields,
  invalidRefreshToken,
  invalidToken,
  unauthorized,
} from '../support/expected.js';
import {
  type Account,
  aCode,
  anAccount,
  aPassword,
  byCode,
  exchange,
  isAlive,
  type Session,
} from '../support/personas.js';
import { aRefreshableLogin, partsOf, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import { startService } from '../support/service.js';
import { addDerivedSessions } from '../support/rows.js';
import { sessionIdOf, signToken } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const LOGOUT = '/api/auth/logout';
const LIVE_LIMIT = 1000;
const LOOK_EVERY = 32;
/** The registration counts, too. */
const EXCHANGES = LOOK_EVERY - 1;
const EXCESS = 50;

const service = await startService();
afterAll(() => service.stop());

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
    const forged = signToken({ alg: 'ES256', typ: 'at+jwt', kid: 'other' }, {}, key!);
    for (const token of ['not.a.token', forged])
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
