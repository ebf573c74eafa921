import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { LoginOpening } from '../../src/auth/logins/login-opening.js';
import { ProviderDomainsRepository } from '../../src/auth/providers/provider-domains.repository.js';
import { placeOf } from '../../src/auth/sessions/known-places.repository.js';
import type { Login } from '../../src/auth/sessions/session-opening.service.js';
import { openDataLayer } from '../support/data-source.js';
import { invalidCode, invalidRefreshToken } from '../support/expected.js';
import {
  type Account,
  aCode,
  anAccount,
  anUnknownId,
  byCode,
  exchange,
  isAlive,
} from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import { insertRow } from '../support/rows.js';
import { appCode, enrol, forgetSteps, protect, SECOND_FACTOR } from '../support/second-factor.js';
import { startService } from '../support/service.js';
import { decodeToken, sessionIdOf } from '../support/signing-keys.js';
import { wired } from '../support/wired.js';

const HOUR_MS = 3_600_000;

const service = await startService();
const { db } = service;

describe('a login at a provider', () => {
  let ada: Account;
  let login: Tokens;
  const endsAt = Math.floor(Date.now() / 1000) * 1000 + HOUR_MS;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
    login = await aRefreshableLogin(service, ada);
    const sql = `UPDATE sessions SET amr = 'fed', provider = 'acme', ends_at = ?, expires_at = ? WHERE id = ?`;
    await db.query(sql, [endsAt, endsAt, sessionIdOf(login)]);
  });

  const rowOf = async (session: { token: string }) => {
    const sql = 'SELECT expires_at, ends_at, amr, provider FROM sessions WHERE id = ?';
    const [row] = await db.query(sql, [sessionIdOf(session)]);
    return { ...row, expires_at: Number(row!['expires_at']), ends_at: Number(row!['ends_at']) };
  };
  const end = (at: number) =>
    db.query('UPDATE sessions SET ends_at = ? WHERE id = ?', [at, sessionIdOf(login)]);

  it('ends when its provider wants, however often it is refreshed', async () => {
    let last = login;
    for (let time = 0; time < 3; time += 1) {
      last = await refreshed(service, last.refreshToken);
      expect(await rowOf(last)).toMatchObject({ expires_at: endsAt, ends_at: endsAt });
    }
    await end(Date.now() + 60_000);
    const { token, expiresAt, refreshToken } = await refreshed(service, last.refreshToken);
    const { expires_at, ends_at } = await rowOf({ token });
    expect([expires_at, decodeToken(token).claims['exp']]).toEqual([ends_at, Math.floor(ends_at / 1000)]);
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(ends_at);

    // As an instance of the previous release would leave it, which knows no such end.
    await end(Date.now() - 1);
    await db.query('UPDATE sessions SET expires_at = ? WHERE id = ?', [endsAt, sessionIdOf(login)]);
    expect(await refresh(service, refreshToken)).toMatchObject(invalidRefreshToken);
  });

  it('ends all that its one-time codes open, and what their codes open', async () => {
    const first = await byCode(service, ada.as(login.token));
    const second = await byCode(service, first);
    for (const session of [first, second])
      expect(await rowOf(session)).toEqual({
        expires_at: endsAt,
        ends_at: endsAt,
        amr: 'fed',
        provider: null,
      });
    expect(decodeToken(second.token).claims).toMatchObject({ amr: ['fed'], exp: endsAt / 1000 });

    const code = await aCode(ada.as(login.token));
    await end(Date.now() - 1);
    expect(await exchange(service, code)).toMatchObject(invalidCode);
  });

  it('stays one when the user turns two-factor authentication on and off', async () => {
    const acting = ada.as(login.token);
    const { secret } = await enrol(acting);
    expect(await isAlive(acting)).toBe(true);
    expect(await rowOf(login)).toMatchObject({ amr: 'fed otp', provider: 'acme', ends_at: endsAt });
    const passedOn = await byCode(service, acting);
    expect(decodeToken(passedOn.token).claims['amr']).toEqual(['fed', 'otp']);
    await forgetSteps(service, ada);
    const proof = { password: ada.password, code: appCode(secret) };
    expect((await acting.post(`${SECOND_FACTOR}/remove`, proof)).status).toBe(200);
    expect(await rowOf(login)).toMatchObject({ amr: 'fed', provider: 'acme', ends_at: endsAt });
    expect(await isAlive(acting)).toBe(true);
  });

  it('has to show the second factor, if the user has one', async () => {
    await protect(service, ada);
    for (const [amr, isAccepted] of [
      ['fed otp', true],
      ['fed', false],
    ] as const) {
      await db.query('UPDATE sessions SET amr = ? WHERE id = ?', [amr, sessionIdOf(login)]);
      expect(await isAlive(ada.as(login.token)), amr).toBe(isAccepted);
    }
  });

  it('is listed with its provider, if the client asks', async () => {
    await byCode(service, ada.as(login.token));
    const { body } = await ada.get<{ sessions: object[] }>('/api/me/sessions?include=login');
    expect(body.sessions).toMatchObject([
      { via: 'code', login: null },
      { via: 'password', login: { by: 'provider', provider: 'acme' } },
      { via: 'password', login: { by: 'password', provider: null } },
    ]);
    const plain = (await ada.get<{ sessions: object[] }>('/api/me/sessions')).body.sessions;
    expect(plain.filter((session) => 'login' in session || 'provider' in session)).toEqual([]);
    expect((await ada.get('/api/me/sessions?include=logins')).status).toBe(400);
  });
});

describe('the session of a login', async () => {
  const data = await openDataLayer();
  const context = await wired(data);
  afterAll(() => data.close());
  const opening = context.get(LoginOpening, { strict: false });
  const origin = { requestId: 'a-test', address: '203.0.113.7', userAgent: null };

  async function open(login: Partial<Login>) {
    const id = anUnknownId();
    await insertRow(data.db, 'users', { id });
    const user = (await context.get(ProviderDomainsRepository).findPasswordLogin({ id }, placeOf(origin)))!;
    const response = await opening.open({ userId: id, authEpoch: 0, via: 'login', origin, ...login }, user);
    const [row] = await data.db.query('SELECT * FROM sessions WHERE user_id = ?', [id]);
    const [event] = await data.db.query('SELECT data FROM events WHERE user_id = ?', [id]);
    return { response: response!, row: row!, event: JSON.parse(String(event!['data'])) as unknown };
  }

  it.each([false, true])('ends when its provider wants (refreshable: %s)', async (isRefreshable) => {
    const [authTime, endsAt] = [Date.now() - 5000, Date.now() + 60_000];
    const login = { amr: 'fed', provider: 'acme', endsAt, authTime, refresh: isRefreshable } as const;
    const { response, row, event } = await open(login);
    const expected = { provider: 'acme', ends_at: endsAt, expires_at: endsAt, auth_time: authTime };
    expect(row).toMatchObject(expected);
    const claims = { amr: ['fed'], exp: Math.floor(endsAt / 1000), auth_time: Math.floor(authTime / 1000) };
    expect(decodeToken(response.token).claims).toMatchObject(claims);
    expect(event).toEqual({ via: 'login', provider: 'acme' });
  });

  it('with a password ends as before', async () => {
    const { row, event } = await open({});
    expect(row).toMatchObject({ provider: null, ends_at: null, amr: 'pwd' });
    expect(Number(row['expires_at']) - Number(row['created_at'])).toBe(24 * HOUR_MS);
    expect(event).toEqual({ via: 'login' });
  });

  it('is none, if the user has been deleted since', async () => {
    const [id, login] = [anUnknownId(), { via: 'login', authEpoch: 0, origin } as const];
    await insertRow(data.db, 'users', { id });
    const user = (await context.get(ProviderDomainsRepository).findPasswordLogin({ id }, placeOf(origin)))!;
    await data.db.query('DELETE FROM users WHERE id = ?', [id]);
    expect(await opening.open({ ...login, userId: id }, user)).toBeUndefined();
  });
});
