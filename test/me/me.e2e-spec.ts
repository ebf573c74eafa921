import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import { invalidFields, unauthorized } from '../support/expected.js';
import { verified } from '../support/inviting.js';
import { addOrgs } from '../support/rows.js';
import { PausedReader } from '../support/connections.js';
import { type Account, anAccount, anOrg, anOrgOf, join, type Org } from '../support/personas.js';
import { startService } from '../support/service.js';

interface Page {
  orgs: { id: string; name: string }[];
  nextCursor?: string;
}

const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const LISTS = ['/api/me/orgs', '/api/me/deleted-orgs'];

const service = await startService();
afterAll(() => service.stop());

describe('GET /api/me', () => {
  it('lists organizations in the order of joining', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const theirs = await anOrgOf(grace, 'Older, joined last');
    const first = await anOrgOf(ada, 'Zeta');
    const second = await anOrgOf(ada, 'Alpha');
    await join(theirs, grace, ada, 'member');
    const answer = await ada.get('/api/me');
    expect(answer.body).toEqual({ user: { id: ada.id, email: ada.email }, orgs: [first, second, theirs] });
  });

  it('adds what is asked for, and nothing else', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const second = await anOrgOf(admin, 'Another');
    await join(second, admin, owner, 'member');
    await verified(service.db, member);
    const user = ({ id, email }: Account) => ({ id, email });

    for (const include of [
      'roles,account',
      'account,roles',
      'account,roles,account',
      'roles&include=account',
    ]) {
      const { status, body } = await owner.get(`/api/me?include=${include}`);
      expect(status).toBe(200);
      expect(body).toEqual({
        user: { ...user(owner), emailVerified: false },
        orgs: [
          { ...org, role: 'owner' },
          { ...second, role: 'member' },
        ],
      });
    }
    expect((await member.get('/api/me?include=account')).body).toEqual({
      user: { ...user(member), emailVerified: true },
      orgs: [org],
    });
    expect((await member.get('/api/me?include=roles')).body).toEqual({
      user: user(member),
      orgs: [{ ...org, role: 'member' }],
    });
    expect((await member.get('/api/me?other=1')).body).toEqual({ user: user(member), orgs: [org] });
    await admin.delete(`/api/orgs/${second.id}`);
    expect((await admin.get('/api/me?include=roles')).body).toMatchObject({ orgs: [{ id: org.id }] });
  });

  it.each([
    [200, false],
    [201, true],
    [450, true],
  ])('lists %s organizations in the order of joining, streamed: %s', async (count, isStreamed) => {
    const ada = await anAccount(service, 'ada');
    await addOrgs(service.db, ada, count);
    const names = times(count, (number) => `Organization ${number}`);
    for (const include of ['', '?include=roles,account']) {
      const { headers, body } = await ada.get<{ user: object; orgs: Org[] }>(`/api/me${include}`);
      expect(headers.get('content-length') === null).toBe(isStreamed);
      expect(body.orgs.map(({ name }) => name)).toEqual(names);
      const parts = include === '' ? [{}, {}] : [{ emailVerified: false }, { role: 'owner' }];
      expect(body.user).toEqual({ id: ada.id, email: ada.email, ...parts[0] });
      expect(body.orgs[0]).toEqual({ id: expect.any(String), name: names[0], ...parts[1] });
    }
  });

  it('reads the lists of many users at once, though they are longer together than one query reads', async () => {
    const accounts = await Promise.all(times(8, () => anAccount(service)));
    await Promise.all(accounts.map((account, n) => addOrgs(service.db, account, 170 + 10 * n)));
    const answers = await Promise.all(
      times(24, (n) => accounts[n % 8]!.get<{ user: object; orgs: object[] }>('/api/me')),
    );
    expect(answers.map(({ body }) => body.orgs.length)).toEqual(times(24, (n) => 170 + 10 * (n % 8)));
  });

  it('is cut off for a reader of a long list who logs out meanwhile', async () => {
    const ada = await anAccount(service, 'ada');
    await addOrgs(service.db, ada, 15_000, (number) => `${'\u{1F600}'.repeat(90)} ${number}`);
    const reader = await PausedReader.get(service, '/api/me', ada);
    expect((await ada.post('/api/auth/logout')).status).toBe(200);
    const { text, whole } = await reader.readOn();
    expect(whole).toBe(false);
    expect(text).not.toContain('14999');
  });

  it('takes no other word, and nothing that is no list of them', async () => {
    const ada = await anAccount(service);
    const alike = ['', 'role', 'Roles', 'roles,', ',roles', 'roles,members', 'roles%20account', '__proto__'];
    for (const include of [
      ...alike,
      `${'roles,'.repeat(11)}roles`,
      'roles&include=',
      'roles&include=members',
    ])
      expect(await ada.get(`/api/me?include=${include}`), include).toMatchObject(invalidFields('include'));
    expect((await ada.get('/api/me?include[]=roles')).body).toEqual({ user: expect.anything(), orgs: [] });
    expect(await service.anyone.get('/api/me?include=x')).toMatchObject(unauthorized);
  });

  it('shows each organization to its members only, until they are removed', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    for (const insider of [owner, admin, member])
      expect((await insider.get('/api/me')).body).toMatchObject({ user: { id: insider.id }, orgs: [org] });
    await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
    for (const other of [outsider, member])
      expect((await other.get('/api/me')).body).toMatchObject({ orgs: [] });
  });
});

describe('GET /api/me/account', () => {
  it('shows these fields, and no other', async () => {
    const ada = await anAccount(service, 'ada');
    const { status, body } = await ada.get('/api/me/account');
    const [row] = await service.db.query('SELECT created_at FROM users WHERE id = ?', [ada.id]);
    expect(status).toBe(200);
    expect(body).toEqual({
      user: { id: ada.id, email: ada.email },
      emailVerified: false,
      createdAt: new Date(Number(row!['created_at'])).toISOString(),
      passwordChangedAt: null,
    });
    await verified(service.db, ada);
    expect((await ada.get('/api/me/account')).body).toMatchObject({ emailVerified: true });
    expect(await service.anyone.get('/api/me/account')).toMatchObject(unauthorized);
  });
});

describe('the organizations of a user', () => {
  let ada: Account;
  const orgs: Org[] = [];

  beforeAll(async () => {
    const grace = await anAccount(service, 'grace');
    ada = await anAccount(service, 'ada');
    for (const name of ['Zeta', 'Alpha', 'Beta']) orgs.push(await anOrgOf(ada, name));
    orgs.push(await anOrgOf(grace, 'Joined last'));
    await join(orgs[3]!, grace, ada, 'member');
    // Of the same moment, so that the id decides, too.
    await service.db.query(
      `UPDATE members SET joined_at = 1700000000000 WHERE user_id = ? AND org_id IN (?, ?)`,
      [ada.id, orgs[0]!.id, orgs[1]!.id],
    );
  });

  async function pagesOf(path: string, limit: number): Promise<Page['orgs']> {
    const found: Page['orgs'] = [];
    let next: string | undefined = `${path}?limit=${limit}`;
    while (next !== undefined) {
      const { status, body, headers, text }: Answer<Page> = await ada.get<Page>(next);
      expect(status, text).toBe(200);
      expect(body.orgs.length).toBeLessThanOrEqual(limit);
      found.push(...body.orgs);
      next = body.nextCursor && `${path}?limit=${limit}&cursor=${body.nextCursor}`;
      expect(headers.get('link')).toBe(next === undefined ? null : `<${next}>; rel="next"`);
    }
    return found;
  }

  it('come with the role and the time of joining', async () => {
    const { status, body } = await ada.get<Page>('/api/me/orgs');
    expect(status).toBe(200);
    expect(body).toEqual({
      orgs: orgs.map((org, place) => ({ ...org, role: place < 3 ? 'owner' : 'member', joinedAt: A_TIME })),
    });
  });

  it.each([1, 2, 3, 4, 5])('come in pages of %i, in order of joining', async (limit) => {
    expect((await pagesOf('/api/me/orgs', limit)).map(({ id }) => id)).toEqual(orgs.map(({ id }) => id));
  });

  it.each([1, 2, 3])('that are deleted come in pages of %i, those that the user owned', async (limit) => {
    for (const { id } of orgs) await ada.delete(`/api/orgs/${id}`);
    expect((await pagesOf('/api/me/deleted-orgs', limit)).map(({ id }) => id)).toEqual(
      orgs.slice(0, 3).map(({ id }) => id),
    );
    expect((await ada.get<Page>('/api/me/orgs')).body.orgs.map(({ id }) => id)).toEqual([orgs[3]!.id]);
    for (const { id } of orgs.slice(0, 3))
      expect((await ada.post(`/api/orgs/${id}/restore`)).status).toBe(200);
  });

  it.each(LISTS)('%s is empty for somebody new', async (path) => {
    expect((await (await anAccount(service)).get(path)).body).toEqual({ orgs: [] });
  });

  it.each(LISTS)('%s refuses a bad limit and cursor', async (path) => {
    for (const limit of ['0', '1001', '-1', 'x', '1.5', ''])
      expect(await ada.get(`${path}?limit=${limit}`), limit).toMatchObject(invalidFields('limit'));
    for (const cursor of ['x', '', 'OmFkYQ', 'a'.repeat(500)])
      expect(await ada.get(`${path}?cursor=${cursor}`), cursor).toMatchObject(invalidFields('cursor'));
  });
});
