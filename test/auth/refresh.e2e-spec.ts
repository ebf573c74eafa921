import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { invalidFields, invalidRefreshToken, invalidToken } from '../support/expected.js';
import { type Account, aCode, anAccount, anEmail, aPassword } from '../support/personas.js';
import { aRefreshableLogin, partsOf, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const ACCESS_TOKEN_TTL = 900;
const IDLE_MS = 14 * 86_400_000;
const MAX_AGE_MS = 30 * 86_400_000;
const GRACE_MS = 30_000;

const service = await startService();
afterAll(() => service.stop());

describe('a refresh token', () => {
  let ada: Account;
  let login: Tokens;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
    login = await aRefreshableLogin(service, ada);
  });

  const idOf = ({ refreshToken }: Tokens): string => partsOf(refreshToken).sessionId;
  const claimsOf = ({ token }: Pick<Tokens, 'token'>) =>
    decodeToken(token).claims as { sid: string; iat: number; exp: number; auth_time: number };
  const works = async ({ token }: Tokens): Promise<boolean> =>
    (await ada.as(token).get('/api/me')).status === 200;
  const change = (what: string, ...values: number[]) =>
    service.db.query(`UPDATE sessions SET ${what} WHERE id = ?`, [...values, idOf(login)]);
  async function row(): Promise<Record<string, unknown>> {
    const [found] = await service.db.query('SELECT * FROM sessions WHERE id = ?', [idOf(login)]);
    return found!;
  }
  const endings = () =>
    service.db.query(
      `SELECT actor_type, actor_id, user_id, session_id, data FROM events
        WHERE type = 'session.ended' AND session_id = ?`,
      [idOf(login)],
    );

  async function loggedLine(text: string): Promise<unknown> {
    const isIt = (line: string): boolean => line.includes(text) && line.includes(idOf(login));
    await waitFor(`the log says: ${text}`, hangTimeoutMs(), () => service.logs.some(isIt));
    return JSON.parse(service.logs.find(isIt)!);
  }

  it('comes only with a login or registration that asks for it', async () => {
    const { email, password } = ada;
    const plain = await service.anyone.post<Tokens>('/api/auth/login', { email, password });
    expect(Object.keys(plain.body).toSorted()).toEqual(['token', 'user']);
    expect(claimsOf(plain.body).exp - claimsOf(plain.body).iat).toBe(86_400);
    const declined = await service.anyone.post('/api/auth/login', { email, password, refresh: false });
    expect(Object.keys(declined.body as object).toSorted()).toEqual(['token', 'user']);

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
    const code = await aCode(ada.as(login.token));
    const { status, body } = await service.anyone.post('/api/auth/code/exchange', { code, refresh: true });
    expect(status).toBe(200);
    expect(Object.keys(body as object)).toEqual(['token']);
  });

  it('gets a new token of the same login, and its successor', async () => {
    const next = await refreshed(service, login.refreshToken);

    expect(Object.keys(next).toSorted()).toEqual(['expiresAt', 'refreshToken', 'token']);
    expect(partsOf(next.refreshToken)).toMatchObject({ sessionId: idOf(login), generation: 2 });
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
    const { body } = await service.anyone.post<Tokens>('/api/auth/code/exchange', {
      code: await aCode(ada.as(next.token)),
    });
    await change('rotated_at = rotated_at - ?', GRACE_MS + 1000);

    expect(await refresh(service, login.refreshToken)).toMatchObject(invalidRefreshToken);

    for (const token of [login.token, next.token, body.token]) {
      expect(await ada.as(token).get('/api/me')).toMatchObject(invalidToken);
    }
    expect((await ada.get('/api/me')).status).toBe(200);
    expect(await refresh(service, next.refreshToken)).toMatchObject(invalidRefreshToken);
    const ended = {
      actor_type: 'system',
      actor_id: null,
      user_id: ada.id,
      session_id: idOf(login),
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
    ['is gone', () => service.db.query('DELETE FROM sessions WHERE id = ?', [idOf(login)])],
    [
      'is of a disabled user',
      () => service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]),
    ],
    ['is of another epoch', () => service.db.query('UPDATE users SET auth_epoch = 5 WHERE id = ?', [ada.id])],
  ])('of a session that %s is refused, before a refresh and in its grace', async (_what, end) => {
    const next = await refreshed(service, login.refreshToken);
    await end();
    for (const { refreshToken } of [next, login]) {
      expect(await refresh(service, refreshToken)).toMatchObject(invalidRefreshToken);
    }
    const left = await service.db.query('SELECT refresh_generation FROM sessions WHERE id = ?', [
      idOf(login),
    ]);
    expect(left.map(({ refresh_generation: generation }) => generation)).toEqual(left.map(() => 2));
    expect(await endings()).toEqual([]);
  });

  it('that is forged in any part is refused, and ends nothing', async () => {
    const other = await aRefreshableLogin(service, ada);
    const { sessionId, generation, mac } = partsOf(login.refreshToken);
    await refreshed(service, login.refreshToken);
    await change('rotated_at = 1');
    const forged = [
      `${sessionId}.${generation}.${partsOf(other.refreshToken).mac}`,
      `${idOf(other)}.${generation}.${mac}`,
      `${sessionId}.${generation + 1}.${mac}`,
      `${sessionId}.${generation}.${'A'.repeat(43)}`,
      `${sessionId}.${generation}.${mac.slice(1)}`,
      `${sessionId}.0${generation}.${mac}`,
      `${sessionId}.${generation}.${mac}.`,
      ` ${login.refreshToken}`,
      `${login.refreshToken}\n`,
      login.refreshToken.toUpperCase(),
      login.token,
      sessionId,
      '',
      '..',
      'x'.repeat(15_000),
      `${sessionId}.${'9'.repeat(10_000)}.${mac}`,
    ];
    for (const text of forged) {
      expect(await refresh(service, text), text).toMatchObject(invalidRefreshToken);
    }
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
    const { email, password } = ada;
    const { body } = await service.anyone
      .with({ 'user-agent': `Desktop\t1.0 ${'x'.repeat(300)}` })
      .post<Tokens>('/api/auth/login', { email, password, refresh: true });
    login = body;
    expect(await row()).toMatchObject({ ip: '127.0.0.1', user_agent: `Desktop1.0 ${'x'.repeat(188)}` });
  });
});
