import { afterAll, describe, expect, it } from 'vitest';
import { invalidCredentials, invalidFields, malformedJson, passwordCommon } from '../support/expected.js';
import { anAccount, anEmail, aPassword, logIn } from '../support/personas.js';
import { startService } from '../support/service.js';

const EMOJI = '\u{1f40e}';

const service = await startService();
afterAll(() => service.stop());

describe('the rules for passwords', () => {
  async function register(password: string) {
    const email = anEmail();
    return { email, answer: await service.anyone.post('/api/auth/register', { email, password }) };
  }
  const login = (email: string, password: string) => logIn(service, { email, password });

  it.each([
    ['8 characters', 'tr0ubado'],
    ['8 emoji', EMOJI.repeat(8)],
    ['lower-case letters alone', 'quietharborlantern'],
    ['a phrase around a common word', 'my password is a secret'],
    ['64 characters', 'x7'.repeat(32)],
    ['128 characters', 'x7'.repeat(64)],
    ['128 emoji', EMOJI.repeat(128)],
    ['128 characters, each decomposed into four', '\u1f82'.repeat(128).normalize('NFD')],
    ['spaces at both ends', ' harbor lantern '],
    ['spaces alone', ' '.repeat(12)],
    ['NUL inside', 'harbor\u0000lantern'],
    ['control characters', 'harbor\tlan\ntern'],
  ])('accept %s, and it works at login', async (_what, password) => {
    const { email, answer } = await register(password);
    expect(answer.status, answer.text).toBe(201);
    expect((await login(email, password)).status).toBe(200);
  });

  it.each([
    ['7 characters', 'tr0ubad'],
    ['7 emoji, which are 14 UTF-16 units', EMOJI.repeat(7)],
    ['7 characters after normalisation', 'A\u030a'.repeat(7)],
    ['129 characters', 'x'.repeat(129)],
    ['10,000 characters', 'x7'.repeat(5000)],
    ['a lone surrogate', 'harbor\ud800lantern'],
    ['U+FFFD', 'harbor\ufffdlantern'],
    ['the name of the service', 'AccountsAccounts'],
  ])('refuse %s', async (_what, password) => {
    const { email, answer } = await register(password);
    expect(answer).toMatchObject(invalidFields('password'));
    expect(await service.db.query('SELECT id FROM users WHERE email = ?', [email])).toEqual([]);
  });

  it.each(['password1', 'PASSWORD1', '1234567890', 'passwordpassword', '123456789012345'])(
    'refuse the common %s by a code of its own',
    async (password) => {
      const { email, answer } = await register(password);
      expect(answer).toMatchObject(passwordCommon('password'));
      expect(await service.db.query('SELECT id FROM users WHERE email = ?', [email])).toEqual([]);
    },
  );

  it('refuse a common password among other faults, as one of them', async () => {
    const answer = await service.anyone.post('/api/auth/register', { email: 'x', password: 'password1' });
    expect(answer).toMatchObject(invalidFields('email', 'password'));
  });

  it('refuse a common new password by the same code', async () => {
    const ada = await anAccount(service);
    const newPassword = 'passwordpassword';
    const change = { currentPassword: ada.password, newPassword };
    const reset = { email: ada.email, code: '0000000000', newPassword };
    for (const answer of [
      await ada.put('/api/me/password', change),
      await service.anyone.post('/api/auth/password/reset', reset),
    ])
      expect(answer).toMatchObject(passwordCommon('newPassword'));
  });

  it.each<[string, (text: string) => string]>([
    ['in any case', (text) => text],
    ['repeated', (text) => text.repeat(2)],
  ])('refuse the e-mail and its local part, %s', async (_what, altered) => {
    const email = anEmail('longlocalpart');
    const [local] = email.split('@') as [string];
    const names = [email, email.toUpperCase(), local, local.toUpperCase(), ` ${email} `];
    for (const password of names.map(altered)) {
      const answer = await service.anyone.post('/api/auth/register', { email, password });
      expect(answer, password).toMatchObject(invalidFields('password'));
    }
  });

  it('refuse bytes that are not UTF-8 instead of replacing them', async () => {
    const body = Buffer.from(JSON.stringify({ email: anEmail(), password: 'harbor?lantern' }));
    body[body.indexOf('?')] = 0xff;
    const answer = await service.anyone.send('POST', '/api/auth/register', {
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array(body),
    });
    expect(answer).toMatchObject(malformedJson);
  });

  it.each([
    ['leave out the last character', (password: string) => password.slice(0, -1)],
    ['change the last character', (password: string) => `${password.slice(0, -1)}!`],
    ['trim', (password: string) => password.trim()],
    ['fold case', (password: string) => password.toLowerCase()],
    ['use compatibility forms', (password: string) => password.normalize('NFKC')],
    ['end at NUL', (password: string) => password.split('\u0000')[0]!],
  ])('do not %s', async (_what, alter) => {
    const password = ` \ufb01nd Harbor lantern\u0000 ${aPassword().repeat(3)} `;
    const { email, answer } = await register(password);
    expect(answer.status).toBe(201);
    expect(await login(email, alter(password))).toMatchObject(invalidCredentials);
    expect((await login(email, password)).status).toBe(200);
  });

  it('treat canonically equivalent text as equal', async () => {
    const { email } = await register('\u00c5ngstr\u00f6m harbor');
    expect((await login(email, 'A\u030angstro\u0308m harbor')).status).toBe(200);
  });
});
