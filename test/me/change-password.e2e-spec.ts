import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  invalidCredentials,
  invalidFields,
  invalidToken,
  passwordSessionRequired,
  rateLimited,
  unauthorized,
  wrongPassword,
} from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { type Account, aCode, anAccount, anAccountOf, anEmail, aPassword } from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import { startService } from '../support/service.js';

const PASSWORD = '/api/me/password';

const service = await startService();
afterAll(() => service.stop());

describe('a change of the password', () => {
  let ada: Account;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const login = (password: string) => service.anyone.post('/api/auth/login', { email: ada.email, password });
  const isAlive = async (token: string): Promise<boolean> =>
    (await ada.as(token).get('/api/me')).status === 200;
  const change = (newPassword: string, currentPassword = ada.password, by = ada) =>
    by.sendJson('PUT', PASSWORD, { currentPassword, newPassword });
  async function row(): Promise<Record<string, unknown>> {
    const [found] = await service.db.query('SELECT * FROM users WHERE id = ?', [ada.id]);
    return found!;
  }

  it('lets the new one in and not the old one, and ends every session but its own', async () => {
    const desktop = await aRefreshableLogin(service, ada);
    const other = await aRefreshableLogin(service, ada);
    const passedOn = await service.anyone.post<Tokens>('/api/auth/code/exchange', { code: await aCode(ada) });
    const codes = [await aCode(ada.as(desktop.token)), await aCode(ada)];
    const newPassword = aPassword();

    const answer = await change(newPassword, ada.password, ada.as(desktop.token));

    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await login(ada.password)).toMatchObject(invalidCredentials);
    expect((await login(newPassword)).status).toBe(200);
    expect(await isAlive(desktop.token)).toBe(true);
    for (const token of [ada.token, other.token, passedOn.body.token])
      expect(await isAlive(token)).toBe(false);
    expect((await refresh(service, other.refreshToken)).status).toBe(401);
    expect(await isAlive((await refreshed(service, desktop.refreshToken)).token)).toBe(true);
    for (const code of codes) {
      expect((await service.anyone.post('/api/auth/code/exchange', { code })).status).toBe(400);
    }
  });

  it('is told with the account, and raises its revision by one', async () => {
    const account = () => ada.get<{ passwordChangedAt: string | null }>('/api/me/account');
    expect((await account()).body.passwordChangedAt).toBeNull();
    const before = await row();
    await change(aPassword());
    const after = await row();
    expect(after['revision']).toBe(Number(before['revision']) + 1);
    expect((await account()).body.passwordChangedAt).toBe(
      new Date(Number(after['password_changed_at'])).toISOString(),
    );
  });

  it('needs the current one, exactly, and changes nothing without it', async () => {
    const before = await row();
    for (const wrong of [
      aPassword(),
      `${ada.password} `,
      ada.password.toUpperCase(),
      ada.password.slice(1),
    ]) {
      expect(await change(aPassword(), wrong)).toMatchObject(wrongPassword);
    }
    expect(await row()).toEqual(before);
    expect(await isAlive(ada.token)).toBe(true);
  });

  it('takes the passwords in the form that registration and login take', async () => {
    const composed = 'Ångström läuft mit';
    expect((await change(composed.normalize('NFD'))).status).toBe(200);
    expect((await login(composed.normalize('NFC'))).status).toBe(200);
    expect((await change(aPassword(), composed.normalize('NFD'))).status).toBe(200);
  });

  it.each<[string, () => unknown]>([
    ['too short', () => 'short'],
    ['too long', () => 'x'.repeat(129)],
    ['broken text', () => `broken\ud800text`],
    ['no text', () => 12_345_678],
    ['missing', () => undefined],
  ])('refuses a new one that is %s', async (_what, newPassword) => {
    const answer = await ada.sendJson('PUT', PASSWORD, {
      currentPassword: ada.password,
      newPassword: newPassword(),
    });
    expect(answer).toMatchObject(invalidFields('newPassword'));
    expect((await login(ada.password)).status).toBe(200);
  });

  it('refuses the e-mail as the new one, whatever e-mail the body has', async () => {
    const grace = await anAccountOf(service, anEmail('grace-hopper'));
    for (const newPassword of [grace.email, grace.email.split('@')[0]!]) {
      const body = { currentPassword: grace.password, newPassword, email: 'other@example.com' };
      expect(await grace.sendJson('PUT', PASSWORD, body)).toMatchObject(invalidFields('newPassword'));
    }
  });

  it.each([[undefined], [null], [''], [0], [[]], [{}]])(
    'refuses %j as the current one',
    async (currentPassword) => {
      const answer = await ada.sendJson('PUT', PASSWORD, { currentPassword, newPassword: aPassword() });
      expect(answer).toMatchObject(invalidFields('currentPassword'));
    },
  );

  it('needs a login by password', async () => {
    const body = { currentPassword: ada.password, newPassword: aPassword() };
    expect(await service.anyone.sendJson('PUT', PASSWORD, body)).toMatchObject(unauthorized);
    const { body: tokens } = await service.anyone.post<Tokens>('/api/auth/code/exchange', {
      code: await aCode(ada),
    });
    const child = ada.as(tokens.token);
    expect(await child.sendJson('PUT', PASSWORD, body)).toMatchObject(passwordSessionRequired);
  });

  it('counts as a login of its own account, whatever e-mail the body has', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const body = { currentPassword: aPassword(), newPassword: aPassword(), email: anEmail() };
      expect(await ada.sendJson('PUT', PASSWORD, body)).toMatchObject(wrongPassword);
    }
    expect(await change(aPassword())).toMatchObject(rateLimited);
    expect(await login(ada.password)).toMatchObject(rateLimited);
    const grace = await anAccount(service, 'grace');
    expect((await change(aPassword(), grace.password, grace)).status).toBe(200);
  });

  it.each([
    ['is made where a login re-hashed the same password meanwhile', 'the same', 200],
    ['is refused where another one was set meanwhile', 'another', 403],
  ])('%s', async (_what, stored, status) => {
    const password = stored === 'the same' ? ada.password : aPassword();
    const email = anEmail();
    await service.anyone.post('/api/auth/register', { email, password });
    const [rehashed] = await service.db.query('SELECT password_hash FROM users WHERE email = ?', [email]);
    const held = await holdRows(service);
    await held.write('UPDATE users SET password_hash = ? WHERE id = ?', [
      String(rehashed!['password_hash']),
      ada.id,
    ]);

    const answer = change(aPassword());
    await held.untilOneWaits();
    await held.commit();

    expect((await answer).status).toBe(status);
    expect(await isAlive(ada.token)).toBe(true);
    expect((await login(password)).status).toBe(status === 200 ? 401 : 200);
  });

  it.each([
    ['by an end of all', 'UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?'],
    ['by itself', 'UPDATE sessions SET revoked_at = 1 WHERE user_id = ?'],
  ])('whose session is ended meanwhile, %s, changes nothing', async (_how, end) => {
    const held = await holdRows(service);
    await held.write(end, [ada.id]);
    const answer = change(aPassword());
    await held.untilOneWaits();
    await held.commit();

    expect(await answer).toMatchObject(invalidToken);
    expect((await login(ada.password)).status).toBe(200);
  });

  it('by two sessions at once is made by one, and the other one has ended', async () => {
    const other = await aRefreshableLogin(service, ada);
    const answers = await Promise.all([
      change(aPassword()),
      change(aPassword(), ada.password, ada.as(other.token)),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const alive = await Promise.all([ada.token, other.token].map(isAlive));
    expect(alive).toEqual(answers.map(({ status }) => status === 200));
    const loser = alive[0] ? other.token : ada.token;
    expect(await ada.as(loser).get('/api/me')).toMatchObject(invalidToken);
  });
});
