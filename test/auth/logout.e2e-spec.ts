import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { invalidFields, invalidRefreshToken, invalidToken, unauthorized } from '../support/expected.js';
import { isAlive, passedOn } from '../support/derived-sessions.js';
import { type Account, aCode, anAccount } from '../support/personas.js';
import { aRefreshableLogin, partsOf, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import { startService } from '../support/service.js';
import { decodeToken, signToken } from '../support/signing-keys.js';

const sessionOf = (token: string): string => decodeToken(token).claims['sid'] as string;

const LOGOUT = '/api/auth/logout';

const service = await startService();
afterAll(() => service.stop());

describe('a logout', () => {
  let ada: Account;
  let login: Tokens;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
    login = await aRefreshableLogin(service, ada);
  });

  const endings = () =>
    service.db.query(
      `SELECT actor_type, actor_id, actor_session_id, session_id, data FROM events
        WHERE type = 'session.ended' AND user_id = ?`,
      [ada.id],
    );
  const byItself = (sessionId: string, ended = sessionId) => ({
    actor_type: 'user',
    actor_id: ada.id,
    actor_session_id: sessionId,
    session_id: ended,
    data: '{"reason":"logout"}',
  });

  it('ends the session of the token and all that was derived from it, and no other', async () => {
    const desktop = ada.as(login.token);
    const first = await passedOn(service, desktop);
    const second = await passedOn(service, first);
    const unused = await aCode(desktop);

    const answer = await desktop.post(LOGOUT);

    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await Promise.all([ada, desktop, first, second].map(isAlive))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect((await service.anyone.post('/api/auth/code/exchange', { code: unused })).status).toBe(400);
    expect(await refresh(service, login.refreshToken)).toMatchObject(invalidRefreshToken);
    const { sessionId } = partsOf(login.refreshToken);
    const ended = await endings();
    expect(ended).toHaveLength(3);
    expect(ended).toEqual(
      expect.arrayContaining([
        byItself(sessionId),
        ...[first, second].map(({ token }) => byItself(sessionId, sessionOf(token))),
      ]),
    );
  });

  it('works with a refresh token alone, of any generation, whatever token is sent', async () => {
    const next = await refreshed(service, login.refreshToken);
    const expired = service.anyone.withToken('not.a.token');

    const { status, body } = await expired.post(LOGOUT, { refreshToken: login.refreshToken });

    expect([status, body]).toEqual([200, { ok: true }]);
    expect(await isAlive(ada.as(next.token))).toBe(false);
    expect(await isAlive(ada)).toBe(true);
    expect(await endings()).toEqual([byItself(partsOf(login.refreshToken).sessionId)]);
  });

  it('ends the session of the refresh token, not that of the token beside it', async () => {
    expect((await ada.post(LOGOUT, { refreshToken: login.refreshToken })).status).toBe(200);

    expect([await isAlive(ada), await isAlive(ada.as(login.token))]).toEqual([true, false]);
  });

  it('with a refresh token is done, not refused, where the session has ended or is gone', async () => {
    const { refreshToken } = login;
    await service.anyone.post(LOGOUT, { refreshToken });
    expect((await service.anyone.post(LOGOUT, { refreshToken })).status).toBe(200);
    await service.db.query('DELETE FROM sessions WHERE id = ?', [partsOf(refreshToken).sessionId]);
    expect((await service.anyone.post(LOGOUT, { refreshToken })).status).toBe(200);
    expect(await endings()).toHaveLength(1);
  });

  it('of a session that a code opened leaves the login that issued the code', async () => {
    const first = await passedOn(service, ada);
    const second = await passedOn(service, first);

    expect((await first.post(LOGOUT, {})).status).toBe(200);

    expect(await Promise.all([ada, first, second].map(isAlive))).toEqual([true, false, false]);
  });

  it('is refused without anything to log out, and ends nothing', async () => {
    expect(await service.anyone.post(LOGOUT)).toMatchObject(unauthorized);
    expect(await service.anyone.post(LOGOUT, {})).toMatchObject(unauthorized);
    expect(await service.anyone.withToken('not.a.token').post(LOGOUT, {})).toMatchObject(invalidToken);
    const [key] = service.installation.keys;
    const forged = signToken({ alg: 'ES256', typ: 'at+jwt', kid: 'other' }, {}, key!);
    expect(await service.anyone.withToken(forged).post(LOGOUT, {})).toMatchObject(invalidToken);
    await ada.post(LOGOUT);
    expect(await ada.post(LOGOUT)).toMatchObject(invalidToken);
  });

  it('is refused with a forged refresh token, even of somebody who is signed in', async () => {
    const { sessionId, mac } = partsOf(login.refreshToken);
    for (const refreshToken of ['', 'x', `${sessionId}.2.${mac}`, 'x'.repeat(10_000)]) {
      expect(await ada.post(LOGOUT, { refreshToken })).toMatchObject(invalidRefreshToken);
    }
    expect([await isAlive(ada), await isAlive(ada.as(login.token))]).toEqual([true, true]);
  });

  it.each([[null], [0], [['a']], [{}]])('is refused with the refresh token %j', async (refreshToken) => {
    expect(await ada.post(LOGOUT, { refreshToken })).toMatchObject(invalidFields('refreshToken'));
    expect(await isAlive(ada)).toBe(true);
  });
});
