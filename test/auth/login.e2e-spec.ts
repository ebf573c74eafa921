import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { aJwt, invalidCredentials, invalidFields } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { type Account, anAccount, anEmail, aPassword, isAlive, type Session } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('POST /api/auth/login', () => {
  let ada: Account;
  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const login = (email: unknown, password: unknown) =>
    service.anyone.post<Session>('/api/auth/login', { email, password });

  it('answers with the user and a token of a new session', async () => {
    const [one, two] = [await login(ada.email, ada.password), await login(ada.email, ada.password)];
    expect(one.status).toBe(200);
    expect(one.body).toEqual({ token: aJwt, user: { id: ada.id, email: ada.email } });
    expect(new Set([ada.token, one.body.token, two.body.token]).size).toBe(3);
    expect(await isAlive(ada.as(one.body.token))).toBe(true);
  });

  it('answers a wrong password and an unknown e-mail in the same way', async () => {
    const wrong = await login(ada.email, aPassword());
    const unknown = await login(ada.email.replace('ada', 'eve'), aPassword());
    expect(wrong).toMatchObject(invalidCredentials);
    expect(withoutRequestId(unknown)).toEqual(withoutRequestId(wrong));
  });

  it.each(['Admin-2026', 'harbor\ud800lantern', 'harbor\ufffdlantern', 'x', 'x'.repeat(5000), ' '])(
    'accepts any text as a password, and finds it wrong: %j',
    async (password) => {
      expect(await login(ada.email, password)).toMatchObject(invalidCredentials);
      expect(await login(anEmail(), password)).toMatchObject(invalidCredentials);
    },
  );

  it.each([[['x']], [{ $ne: '' }], [0], [true], [false], [null], [''], [undefined]])(
    'refuses a password that is not non-empty text: %j',
    async (password) => {
      expect(await login(ada.email, password)).toMatchObject(invalidFields('password'));
    },
  );

  it.each([[['a@example.com']], [{ $gt: '' }], [0], [true], [null], [undefined]])(
    'refuses an e-mail of another type: %j',
    async (email) => {
      expect(await login(email, aPassword())).toMatchObject(invalidFields('email'));
    },
  );

  it('refuses an array that contains the right e-mail', async () => {
    expect(await login([ada.email], ada.password)).toMatchObject(invalidFields('email'));
    expect(await login(ada.email, [ada.password])).toMatchObject(invalidFields('password'));
  });

  it('treats an account that is deleted meanwhile as unknown', async () => {
    const eve = await anAccount(service, 'eve');
    const deletion = await holdRows(service);
    await deletion.write('DELETE FROM users WHERE id = ?', [ada.id]);
    // Until the COMMIT the account is read as it was, and no session of it can be written.
    const late = login(ada.email, ada.password);
    expect((await eve.get('/api/me')).status).toBe(200);
    await deletion.commit();
    expect(await late).toMatchObject(invalidCredentials);
  });

  it('starts without default accounts', async () => {
    for (const email of ['admin@example.com', 'admin@localhost.localdomain', 'root@example.com']) {
      expect(await login(email, 'admin')).toMatchObject(invalidCredentials);
    }
  });
});

function withoutRequestId({ status, headers, body }: Answer): object {
  const visible = Object.fromEntries(headers);
  for (const name of ['date', 'x-request-id', 'ratelimit']) delete visible[name];
  return { status, headers: visible, body: { ...(body as object), requestId: 'any' } };
}
