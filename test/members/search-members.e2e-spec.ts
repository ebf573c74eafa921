import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invalidFields, memberNotFound } from '../support/expected.js';
import {
  type Account,
  anAccount,
  anOrg,
  anOrgOf,
  anUnknownId,
  type Org,
  ROLES,
} from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

interface Page {
  members: { email: string; role: string }[];
  nextCursor?: string;
}

const PEOPLE: [email: string, role: string][] = [
  ['ada@example.com', 'admin'],
  ['ada@example.com.ar', 'member'],
  ['ada+1@example.com', 'member'],
  ['ada_b@example.com', 'owner'],
  ['adab@example.com', 'admin'],
  ['adam@xn--bcher-kva.de', 'member'],
  ['a%a@example.com', 'member'],
  ['bob@example.com', 'member'],
  ['~tilde@example.com', 'admin'],
];

/** no email begins with it */
const NOBODY = ' ';

describe('a search of members', () => {
  let service: Service;
  let owner: Account;
  let org: Org;
  let everybody: [string, string][];

  beforeAll(async () => {
    service = await startService();
    owner = await anAccount(service, 'zoe');
    org = await anOrgOf(owner);
    everybody = [...PEOPLE, [owner.email, 'owner']];
    for (const [email, role] of PEOPLE) {
      const id = anUnknownId();
      await service.db.query(
        "INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, 'none', 1)",
        [id, `${id}@example.com`],
      );
      await service.db.query(
        'INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, ?, 1)',
        [org.id, id, email, role],
      );
    }
  });
  afterAll(async () => {
    // Their emails are not those of their accounts.
    await service.db.query('DELETE FROM members WHERE org_id = ?', [org.id]);
    await service.db.query('DELETE FROM orgs WHERE id = ?', [org.id]);
    await service.stop();
  });

  const members = (query: string) => owner.get<Page>(`/api/orgs/${org.id}/members${query}`);
  const expected = (prefix: string, role?: string): string[] =>
    everybody
      .filter(([email, has]) => email.startsWith(prefix) && (role === undefined || has === role))
      .map(([email]) => email)
      .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));

  it.each([
    ['ada', 'ada'],
    ['ADA', 'ada'],
    ['  ada  ', 'ada'],
    ['ada@', 'ada@'],
    ['ada@example.com', 'ada@example.com'],
    ['ada_', 'ada_'],
    ['a%', 'a%'],
    ['_', '_'],
    ['%', '%'],
    ['adam@BÜCHER.de', 'adam@xn--bcher-kva.de'],
    ['~', '~'],
    ['nobody', 'nobody'],
    [' ', NOBODY],
    ['\\', NOBODY],
    ['@', NOBODY],
    ['@example.com', NOBODY],
    ['a b', NOBODY],
    ['a@b@c', NOBODY],
    ['ä', NOBODY],
    ['a\u0000', NOBODY],
    ['a\ud83d\ude00', NOBODY],
  ])('for %j finds what begins with it', async (search, prefix) => {
    const { status, body, text } = await members(`?search=${encodeURIComponent(search)}`);

    expect(status, text).toBe(200);
    expect(body.members.map(({ email }) => email)).toEqual(expected(prefix));
    expect(body.nextCursor).toBeUndefined();
  });

  it.each(ROLES)('for the role %s finds those who have it', async (role) => {
    const { body } = await members(`?role=${role}`);
    expect(body.members.map(({ email }) => email)).toEqual(expected('', role));
    expect(new Set(body.members.map((member) => member.role))).toEqual(new Set([role]));
  });

  const combinations = ['', 'search=a', 'role=member', 'search=ada&role=member', 'role=admin&search=a'];
  it.each(combinations.flatMap((query) => [1, 2, 3].map((limit) => [query, limit] as const)))(
    'by %j in pages of %i finds all, once, in order',
    async (query, limit) => {
      const { search = '', role } = Object.fromEntries(new URLSearchParams(query));
      const found: string[] = [];
      let path: string | undefined = `?${[query, `limit=${limit}`].filter(Boolean).join('&')}`;
      const first = path;
      while (path !== undefined) {
        const { status, body, headers, text } = await members(path);
        expect(status, text).toBe(200);
        expect(body.members.length).toBeLessThanOrEqual(limit);
        found.push(...body.members.map(({ email }) => email));
        path = body.nextCursor && `${first}&cursor=${body.nextCursor}`;
        const link = path && `</api/orgs/${org.id}/members${path}>; rel="next"`;
        expect(headers.get('link')).toBe(link ?? null);
      }
      const all = query === '' ? found.toSorted() : found;
      expect(all).toEqual(query === '' ? expected('').toSorted() : expected(search, role));
    },
  );

  it('goes on where it was although that member left, and with a default limit', async () => {
    const { body } = await members('?search=ada&limit=1');
    expect(body.members.map(({ email }) => email)).toEqual(expected('ada').slice(0, 1));
    const gone = expected('ada')[0]!;
    const [row] = await service.db.query('SELECT user_id FROM members WHERE org_id = ? AND email = ?', [
      org.id,
      gone,
    ]);
    await service.db.query('DELETE FROM members WHERE org_id = ? AND email = ?', [org.id, gone]);

    const next = await members(`?search=ada&cursor=${body.nextCursor}`);
    expect(next.body.members.map(({ email }) => email)).toEqual(expected('ada').slice(1));
    await service.db.query(
      "INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, 'member', 1)",
      [org.id, row!['user_id'] as string, gone],
    );
  });

  it.each(['', 'x'.repeat(255), ' '.repeat(255), 'x'.repeat(600)])('refuses %j', async (search) => {
    const answer = await members(`?search=${encodeURIComponent(search)}`);
    expect(answer).toMatchObject(invalidFields('search'));
  });

  it('refuses what is no role, and lists', async () => {
    for (const role of ['', 'root', 'OWNER']) {
      expect(await members(`?role=${role}`)).toMatchObject(invalidFields('role'));
    }
    expect(await members('?role=owner&role=admin')).toMatchObject(invalidFields('role'));
    expect(await members('?search=a&search=b')).toMatchObject(invalidFields('search'));
  });

  it('refuses the cursor of another kind of list', async () => {
    const ofAll = (await members('?limit=1')).body.nextCursor!;
    const ofSearch = (await members('?search=a&limit=1')).body.nextCursor!;

    expect(await members(`?search=a&cursor=${ofAll}`)).toMatchObject(invalidFields('cursor'));
    expect(await members(`?limit=1&cursor=${ofSearch}`)).toMatchObject(invalidFields('cursor'));
    expect(await members(`?cursor=${ofAll}`)).toMatchObject(invalidFields('limit'));
  });
});

describe('a single member', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('is read by id, or as me, by every member', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const members = `/api/orgs/${org.id}/members`;
    const joinedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    const shown = { member: { userId: admin.id, email: admin.email, role: 'admin', joinedAt } };

    expect(await member.get(`${members}/${admin.id}`)).toMatchObject({ status: 200, body: shown });
    expect((await admin.get(`${members}/me`)).body).toEqual(shown);
    expect((await owner.get(`${members}/me`)).body).toMatchObject({
      member: { userId: owner.id, role: 'owner' },
    });
  });

  it('is not found who is none', async () => {
    const { org, member, outsider } = await anOrg(service);
    for (const id of [outsider.id, anUnknownId(), 'x', 'ME', '%00']) {
      expect(await member.get(`/api/orgs/${org.id}/members/${id}`), id).toMatchObject(memberNotFound);
    }
  });
});
