import { afterAll, describe, expect, it } from 'vitest';
import { aCode, Account, anAccount, anEmail, anOrgOf, join, type Session } from '../support/personas.js';
import { memberNotFound } from '../support/expected.js';
import { startService } from '../support/service.js';

const service = await startService();
const native = await anAccount(service, 'native');
afterAll(() => service.stop());

describe('a user who was imported', () => {
  /** As after an import: a foreign id, and a hash that this service can verify. */
  async function anImportedUser(id: string): Promise<Account> {
    const email = anEmail('imported');
    await service.db.query(
      `INSERT INTO users (id, email, password_hash, created_at)
        SELECT ?, ?, password_hash, created_at FROM users WHERE id = ?`,
      [id, email, native.id],
    );
    const credentials = { email, password: native.password };
    const { status, body, text } = await service.anyone.post<Session>('/api/auth/login', credentials);
    expect(status, text).toBe(200);
    expect(body.user).toEqual({ id, email });
    const { url, contract, installation } = service;
    return new Account(
      { url, contract, secrets: installation.secrets },
      body.token,
      id,
      email,
      native.password,
    );
  }

  it.each(['1', '3', '4', '5', '6', '8'])(
    'with a UUID of version %s can do what others can',
    async (version) => {
      const imported = await anImportedUser(`9b2e6c1f-03d4-${version}f6a-8c15-5d0e7a3b92c4`);

      expect((await imported.get('/api/me')).body).toMatchObject({ user: { id: imported.id } });
      const code = await aCode(imported);
      const exchanged = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
      expect((await imported.withToken(exchanged.body.token).get('/api/me')).status).toBe(200);

      const own = await anOrgOf(imported);
      await join(own, imported, native, 'owner');
      const path = `/api/orgs/${own.id}/members/${imported.id}`;
      expect((await native.patch(path, { role: 'admin' })).body).toEqual({
        member: { userId: imported.id, role: 'admin' },
      });
      expect((await imported.get(`/api/orgs/${own.id}/members?limit=1`)).status).toBe(200);
      expect((await native.delete(path)).body).toEqual({ ok: true });
      expect(await native.delete(path)).toMatchObject(memberNotFound);
    },
  );
});
