import { afterAll, describe, expect, it } from 'vitest';
import { aJwt, anId, emailTaken, invalidFields } from '../support/expected.js';
import { anAccount, anEmail, aPassword, type Session } from '../support/personas.js';
import { startOwnService, startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('POST /api/auth/register', () => {
  it('creates the account and signs it in', async () => {
    const email = anEmail('ada');

    const answer = await service.anyone.post<Session>('/api/auth/register', { email, password: aPassword() });

    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ token: aJwt, user: { id: anId, email } });
    const me = await service.anyone.withToken(answer.body.token).get('/api/me');
    expect(me.body).toEqual({ user: answer.body.user, orgs: [] });
  });

  it('refuses an e-mail that is taken, and leaves its account unchanged', async () => {
    const ada = await anAccount(service, 'ada');

    const second = await service.anyone.post('/api/auth/register', {
      email: ada.email,
      password: aPassword(),
    });

    expect(second).toMatchObject(emailTaken);
    const login = await service.anyone.post('/api/auth/login', { email: ada.email, password: ada.password });
    expect(login.status).toBe(200);
  });

  it.each([
    { body: {}, fields: ['email', 'password'] },
    { body: { email: anEmail() }, fields: ['password'] },
    { body: { password: aPassword() }, fields: ['email'] },
    { body: { email: null, password: null }, fields: ['email', 'password'] },
  ])('names each missing field once: $fields', async ({ body, fields }) => {
    expect(await service.anyone.post('/api/auth/register', body)).toMatchObject(invalidFields(...fields));
  });

  it.each([[['a@example.com']], [{ $gt: '' }], [{}], [0], [1], [true], [false], [null], ['']])(
    'refuses an e-mail of another type: %j',
    async (email) => {
      const answer = await service.anyone.post('/api/auth/register', { email, password: aPassword() });

      expect(answer).toMatchObject(invalidFields('email'));
    },
  );

  it.each([[['longenough-1']], [{ length: 12 }], [1234567890123], [true], [null], ['']])(
    'refuses a password of another type: %j',
    async (password) => {
      const answer = await service.anyone.post('/api/auth/register', { email: anEmail(), password });

      expect(answer).toMatchObject(invalidFields('password'));
    },
  );

  it('ignores unknown fields, and never binds them', async () => {
    const other = await anAccount(service);
    const [before] = await service.db.query('SELECT * FROM users WHERE id = ?', [other.id]);

    const answer = await service.anyone.post<Session>('/api/auth/register', {
      email: anEmail(),
      password: aPassword(),
      id: other.id,
      passwordHash: 'x',
      createdAt: 0,
      role: 'owner',
      isAdmin: true,
    });

    expect(answer.status).toBe(201);
    expect(answer.body.user.id).not.toBe(other.id);
    expect(await service.db.query('SELECT * FROM users WHERE id = ?', [other.id])).toEqual([before]);
  });

  it('creates ids that cannot be guessed from each other', async () => {
    const [one, two] = [await anAccount(service), await anAccount(service)];

    expect(one.id.slice(-12)).not.toBe(two.id.slice(-12));
    expect(one.id < two.id).toBe(true);
  });

  it('starts without accounts', async () => {
    const fresh = await startOwnService();

    expect(await fresh.db.query('SELECT id FROM users')).toEqual([]);

    await fresh.stop();
  });
});
