import { afterAll, describe, expect, it } from 'vitest';
import { invalidCode, invalidCredentials, invalidToken } from '../support/expected.js';
import { aCode, anAccount, anOrg, aPassword, type Session } from '../support/personas.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const service = await startService();
afterAll(() => service.stop());

describe('a session', () => {
  const sessionOf = (token: string): string => decodeToken(token).claims['sid'] as string;

  it('when revoked ends its own tokens at the next request, and no others', async () => {
    const ada = await anAccount(service, 'ada');
    const login = await service.anyone.post<Session>('/api/auth/login', {
      email: ada.email,
      password: ada.password,
    });
    expect((await ada.get('/api/me')).status).toBe(200);

    await service.db.query('UPDATE sessions SET revoked_at = ? WHERE id = ?', [
      Date.now(),
      sessionOf(ada.token),
    ]);

    expect(await ada.get('/api/me')).toMatchObject(invalidToken);
    expect(await ada.post('/api/auth/code')).toMatchObject(invalidToken);
    expect((await ada.withToken(login.body.token).get('/api/me')).status).toBe(200);
  });

  it.each([
    ['revoked', 'UPDATE sessions SET revoked_at = 1 WHERE id = ?'],
    ['gone', 'DELETE FROM sessions WHERE id = ?'],
  ])('derived from one that is %s is dead, whether or not it is revoked itself', async (_what, sql) => {
    const ada = await anAccount(service, 'ada');
    const exchange = async (code: string) =>
      service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
    const derived = ada.as((await exchange(await aCode(ada))).body.token);
    const code = await aCode(derived);

    await service.db.query(sql, [sessionOf(ada.token)]);

    expect(await derived.get('/api/me')).toMatchObject(invalidToken);
    expect(await derived.post('/api/auth/code')).toMatchObject(invalidToken);
    expect(await exchange(code)).toMatchObject(invalidCode);
  });

  it('when deleted ends its tokens', async () => {
    const ada = await anAccount(service, 'ada');

    await service.db.query('DELETE FROM sessions WHERE id = ?', [sessionOf(ada.token)]);

    expect(await ada.get('/api/me')).toMatchObject(invalidToken);
  });

  it('ends with its user', async () => {
    const { org, owner, member } = await anOrg(service);

    await service.db.query('DELETE FROM users WHERE id = ?', [member.id]);

    expect(await member.get('/api/me')).toMatchObject(invalidToken);
    expect(await member.get(`/api/orgs/${org.id}`)).toMatchObject(invalidToken);
    const { email, password } = member;
    expect(await service.anyone.post('/api/auth/login', { email, password })).toMatchObject(
      invalidCredentials,
    );
    const left = await owner.get<{ members: { userId: string }[] }>(`/api/orgs/${org.id}/members`);
    expect(left.body.members.map(({ userId }) => userId)).not.toContain(member.id);
  });

  it('that cannot be looked up gives 503, not 401', async () => {
    const ada = await anAccount(service, 'ada');
    await service.db.query('ALTER TABLE sessions RENAME TO hidden');
    try {
      expect(await ada.get('/api/me')).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    } finally {
      await service.db.query('ALTER TABLE hidden RENAME TO sessions');
    }

    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it('is not inherited by the next user of the e-mail', async () => {
    const ada = await anAccount(service, 'ada');
    await service.db.query('DELETE FROM users WHERE id = ?', [ada.id]);

    const heir = await service.anyone.post<Session>('/api/auth/register', {
      email: ada.email,
      password: aPassword(),
    });

    expect(heir.status).toBe(201);
    expect(heir.body.user.id).not.toBe(ada.id);
    expect(await ada.get('/api/me')).toMatchObject(invalidToken);
  });

  it('of an old token stays with its user when the e-mail moves to another', async () => {
    const ada = await anAccount(service, 'ada');
    const before = ada.email;
    await service.db.query('UPDATE users SET email = ? WHERE id = ?', [`new-${before}`, ada.id]);

    const heir = await service.anyone.post<Session>('/api/auth/register', {
      email: before,
      password: aPassword(),
    });

    expect(heir.status).toBe(201);
    const me = await ada.get('/api/me');
    expect(me.body).toEqual({ user: { id: ada.id, email: `new-${before}` }, orgs: [] });
  });
});
