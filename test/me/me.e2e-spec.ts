import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { invalidFields, unauthorized } from '../support/expected.js';
import { verified } from '../support/inviting.js';
import { addOrgs } from '../support/many-orgs.js';
import { PausedReader } from '../support/paused-reader.js';
import { type Account, anAccount, anOrg, anOrgOf, join, type Org } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('GET /api/me', () => {
  it('answers with the user and an empty list without organizations', async () => {
    const ada = await anAccount(service, 'ada');

    const answer = await ada.get('/api/me');

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ user: { id: ada.id, email: ada.email }, orgs: [] });
  });

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

    for (const include of ['roles,account', 'account,roles', 'account,roles,account']) {
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
    for (const include of [
      '',
      'role',
      'Roles',
      'roles,',
      ',roles',
      'roles,members',
      'roles%20account',
      '__proto__',
      `${'roles,'.repeat(11)}roles`,
      'roles&include=account',
    ]) {
      expect(await ada.get(`/api/me?include=${include}`), include).toMatchObject(invalidFields('include'));
    }
    expect((await ada.get('/api/me?include[]=roles')).body).toEqual({ user: expect.anything(), orgs: [] });
    expect(await service.anyone.get('/api/me?include=x')).toMatchObject(unauthorized);
  });

  it('shows each organization to its members only', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);

    for (const insider of [owner, admin, member]) {
      expect((await insider.get('/api/me')).body).toMatchObject({ user: { id: insider.id }, orgs: [org] });
    }
    expect((await outsider.get('/api/me')).body).toMatchObject({ orgs: [] });
  });

  it('omits an organization that the user was removed from', async () => {
    const { org, owner, member } = await anOrg(service);

    await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);

    expect((await member.get('/api/me')).body).toMatchObject({ orgs: [] });
  });
});
