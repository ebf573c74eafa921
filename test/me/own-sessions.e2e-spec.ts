import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  anId,
  invalidFields,
  invalidToken,
  stepUpRequired,
  sessionNotFound,
  unauthorized,
} from '../support/expected.js';
import {
  type Account,
  aCode,
  anAccount,
  anEmail,
  anUnknownId,
  aPassword,
  byCode,
  exchange,
  isAlive,
  logIn,
} from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import { startService } from '../support/service.js';
import { sessionIdOf } from '../support/signing-keys.js';

const SESSIONS = '/api/me/sessions';

interface Listed {
  id: string;
  current: boolean;
  via: string;
  createdAt: string;
  lastUsedAt: string;
  expiresAt: string;
  ip: string | null;
  userAgent: string | null;
  deviceName: string | null;
  service: string | null;
}

const service = await startService();
afterAll(() => service.stop());

describe('the sessions of a user', () => {
  let ada: Account;
  let desktop: Account;
  let login: Tokens;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
    login = await aRefreshableLogin(service, ada);
    desktop = ada.as(login.token);
  });

  async function list(of: Account): Promise<Listed[]> {
    const { status, body, text } = await of.get<{ sessions: Listed[] }>(SESSIONS);
    expect(status, text).toBe(200);
    return body.sessions;
  }
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
      const times = { createdAt: aTime, lastUsedAt: aTime, expiresAt: aTime };
      const common = { id: anId, ip: '127.0.0.1', ...times, deviceName: null, service: null };
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
      const ids = (await list(ada)).map(({ id }) => id);
      expect(ids).toEqual(
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

  it('are not ended by a service that holds a token from a code', async () => {
    const child = await byCode(service, ada);
    for (const path of [SESSIONS, `${SESSIONS}?all=true`, `${SESSIONS}/${sessionIdOf(ada)}`, `${SESSIONS}/x`])
      expect(await child.delete(path)).toMatchObject(stepUpRequired);
    expect(await Promise.all([ada, desktop, child].map(isAlive))).toEqual([true, true, true]);
  });
});
