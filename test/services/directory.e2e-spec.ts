import { describe, expect, it } from 'vitest';
import { bodyOf } from '../support/answer.js';
import { insufficientScope, invalidFields, uriTooLong } from '../support/expected.js';
import { verified } from '../support/inviting.js';
import { disable } from '../support/org-members.js';
import { pagesOf } from '../support/pages.js';
import { type Account, anAccount, anOrgOf, anUnknownId, aPassword } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/connections.js';
import { startService } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';

const service = await startService();
const caller = await aServiceCaller(service, 'directory');
const mirror = await aServiceCaller(service, 'directory', 'directory:all');

interface Users {
  users: Record<string, unknown>[];
}
interface Orgs {
  orgs: { id: string; name: string; revision: number }[];
}

const queryOf = (ids: readonly string[]): string => ids.map((id) => `id=${id}`).join('&');
const unknownIds = (count: number): string[] => Array.from({ length: count }, () => anUnknownId());

const usersOf = async (...ids: string[]) =>
  (await bodyOf(caller.get<Users>(`/api/directory/users?${queryOf(ids)}`))).users;
const orgsOf = async (...ids: string[]) =>
  (await bodyOf(caller.get<Orgs>(`/api/directory/orgs?${queryOf(ids)}`))).orgs;

const revisionOf = async ({ id }: Account): Promise<number> => {
  const [row] = await service.db.query('SELECT revision FROM users WHERE id = ?', [id]);
  return Number(row!['revision']);
};

describe('GET /api/directory/users', () => {
  it('returns what services show of users, and nothing else', async () => {
    const [ada, bob] = [await anAccount(service, 'ada'), await anAccount(service, 'bob')];
    await ada.patch('/api/me/profile', { name: 'Ada', avatarUrl: 'https://example.com/a.png', locale: 'de' });
    await verified(service.db, ada);
    await disable(service.db, bob);
    const found = await usersOf(ada.id, bob.id, ada.id);
    const base = { emailVerified: false, name: null, avatarUrl: null, disabled: false };
    expect(found).toHaveLength(2);
    expect(found).toContainEqual({
      ...base,
      id: ada.id,
      email: ada.email,
      emailVerified: true,
      name: 'Ada',
      avatarUrl: 'https://example.com/a.png',
      revision: await revisionOf(ada),
    });
    const ofBob = { ...base, id: bob.id, email: bob.email, disabled: true, revision: await revisionOf(bob) };
    expect(found).toContainEqual(ofBob);
  });

  it('has the email and the revision of now after a change', async () => {
    const user = await anAccount(service);
    const [before] = await usersOf(user.id);
    const change = { currentPassword: user.password, newPassword: aPassword() };
    expect((await user.put('/api/me/password', change)).status).toBe(200);
    const [after] = await usersOf(user.id);
    expect(Number(after!['revision'])).toBeGreaterThan(Number(before!['revision']));
  });

  it('leaves out who was deleted and who never was', async () => {
    const [stays, goes] = [await anAccount(service), await anAccount(service)];
    await goes.delete('/api/me', { password: goes.password });
    const found = await usersOf(anUnknownId(), stays.id, goes.id);
    expect(found.map(({ id }) => id)).toEqual([stays.id]);
    expect(await usersOf(`${anUnknownId()},${stays.id}`, goes.id)).toEqual(found);
    expect(await usersOf(anUnknownId())).toEqual([]);
  });

  it('finds a hundred at once, and refuses one more', async () => {
    const user = await anAccount(service);
    expect(await usersOf(...unknownIds(99), user.id)).toHaveLength(1);
    const tooMany = await caller.get(`/api/directory/users?${queryOf(unknownIds(101))}`);
    expect(tooMany).toMatchObject(invalidFields('id'));
  });

  it('takes URLs of 8 KiB, which other routes refuse', async () => {
    const ask = (start: string, length: number) =>
      sendBytes(
        service,
        requestBytes(`GET ${start.padEnd(length, 'x')}`, [`Authorization: ${caller.client.authorization}`]),
      );
    expect(await ask('/api/directory/users?id=', 8192)).toMatchObject(invalidFields('id'));
    expect(await ask('/api/directory/users?id=', 8193)).toMatchObject(uriTooLong);
    expect(await ask('/api/directory', 2049)).toMatchObject(uriTooLong);
    expect(await ask('/api/memberships?orgId=', 2049)).toMatchObject(uriTooLong);
  });

  it.each([
    ['', 'id'],
    ['id=', 'id'],
    ['id=x', 'id'],
    ['id=%00', 'id'],
    ['id[]=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b', 'id[]'],
    ['id=01A1FBF4-7EA2-724E-B0F0-4AD107BA025B', 'id'],
    ['id=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b,', 'id'],
    ['id=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&id=x', 'id'],
    ['ids=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b', 'ids'],
  ])('refuses the query "%s"', async (query) => {
    const { status, body } = await caller.get<{ code: string }>(`/api/directory/users?${query}`);
    expect([status, body.code]).toEqual([400, 'validation_failed']);
  });
});

describe('GET /api/directory/orgs', () => {
  it('returns names and revisions, without deleted organizations', async () => {
    const owner = await anAccount(service);
    const [stays, goes] = [await anOrgOf(owner, 'Stays'), await anOrgOf(owner, 'Goes')];
    await owner.delete(`/api/orgs/${goes.id}`);
    expect(await orgsOf(stays.id, goes.id, anUnknownId())).toEqual([
      { id: stays.id, name: 'Stays', revision: 1 },
    ]);
    await owner.patch(`/api/orgs/${stays.id}`, { name: 'Renamed' });
    expect(await orgsOf(stays.id)).toEqual([{ id: stays.id, name: 'Renamed', revision: 2 }]);
  });

  it('lists all organizations in pages to a service with directory:all', async () => {
    const owner = await anAccount(service);
    const made = [await anOrgOf(owner), await anOrgOf(owner), await anOrgOf(owner), await anOrgOf(owner)];
    const [, deleted] = made;
    await owner.delete(`/api/orgs/${deleted!.id}`);
    // Few pages, of however many organizations other tests have made.
    const [all] = await service.db.query('SELECT COUNT(*) AS count FROM orgs WHERE deleted_at IS NULL');
    const limit = Math.min(Math.ceil(Number(all!['count']) / 3), 1000);
    const pages = await pagesOf<Orgs['orgs'][number]>(mirror, `/api/directory/orgs?limit=${limit}`, 'orgs');
    expect(pages.length).toBeGreaterThan(1);
    const ids = pages.flat().map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(made.filter(({ id }) => ids.includes(id)).map(({ id }) => id)).toEqual(
      made.filter((org) => org !== deleted).map(({ id }) => id),
    );
    for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
  });

  it.each(['limit=0', 'limit=1001', 'cursor=x', 'limit=1&limit=2', 'offset=1', 'id=x&limit=1', 'id='])(
    'refuses the query "%s"',
    async (query) => {
      const { status, body } = await mirror.get<{ code: string }>(`/api/directory/orgs?${query}`);
      expect([status, body.code]).toEqual([400, 'validation_failed']);
    },
  );
});

describe('the scopes of the directory', () => {
  it('are needed, each for its own', async () => {
    const other = await aServiceCaller(service, 'introspect', 'memberships', 'events', 'directory:all');
    for (const path of [`users?id=${anUnknownId()}`, `orgs?id=${anUnknownId()}`, 'orgs'])
      expect(await other.get(`/api/directory/${path}`)).toMatchObject(insufficientScope('directory'));
    expect(await caller.get('/api/directory/orgs')).toMatchObject(insufficientScope('directory:all'));
    expect(await caller.get('/api/directory/orgs?limit=1')).toMatchObject(insufficientScope('directory:all'));
  });

  it('are not given to users', async () => {
    const user = await anAccount(service);
    expect((await user.get(`/api/directory/users?id=${user.id}`)).status).toBe(401);
  });
});
