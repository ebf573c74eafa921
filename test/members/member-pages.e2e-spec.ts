import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { anAccount, type Account, anOrgOf, type Org } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const MANY = 2499;
const ROWS_AT_ONCE = 500;

interface Listed {
  userId: string;
  email: string;
  role: string;
}

interface Page {
  members: Listed[];
  nextCursor?: string;
}

describe('a long member list', () => {
  let service: Service;
  let owner: Account;
  let org: Org;

  beforeAll(async () => {
    service = await startService();
    owner = await anAccount(service, 'owner');
    org = await anOrgOf(owner, 'Large [] "Org"');
    for (let from = 0; from < MANY; from += ROWS_AT_ONCE)
      await join(from, Math.min(from + ROWS_AT_ONCE, MANY));
  });

  afterAll(() => service.stop());

  /** In threes of one millisecond, so that the user id decides too. */
  async function join(from: number, to: number): Promise<void> {
    const numbers = Array.from({ length: to - from }, (_, index) => from + index);
    const id = (number: number): string => `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;
    await service.db.query(
      `INSERT INTO users (id, email, password_hash, created_at) VALUES ${numbers.map(() => '(?, ?, ?, 1)').join()}`,
      numbers.flatMap((number) => [id(number), `u${number}@example.com`, 'none']),
    );
    await service.db.query(
      `INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES ${numbers.map(() => '(?, ?, ?, ?, ?)').join()}`,
      numbers.flatMap((number) => [
        org.id,
        id(number),
        `u${number}@example.com`,
        'member',
        4_000_000_000_000 + Math.floor(number / 3),
      ]),
    );
  }

  const emails = (members: Listed[]): string[] => members.map(({ email }) => email);
  const everybody = (): string[] => [
    owner.email,
    ...Array.from({ length: MANY }, (_, index) => `u${index}@example.com`),
  ];

  it('is complete, in order and without duplicates when no limit is given', async () => {
    const list = await owner.get(`/api/orgs/${org.id}/members`);
    const detail = await owner.get(`/api/orgs/${org.id}`);

    expect(list.status).toBe(200);
    expect(list.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(emails((list.body as { members: Listed[] }).members)).toEqual(everybody());
    const { org: answered } = detail.body as { org: { name: string; members: Listed[] } };
    expect(answered.name).toBe('Large [] "Org"');
    expect(emails(answered.members)).toEqual(everybody());
  });

  it.each([1000, 833])('comes in pages of %i, linked by nextCursor and the Link header', async (limit) => {
    const found: string[] = [];
    const first = `/api/orgs/${org.id}/members?limit=${limit}`;
    let path: string | undefined = first;
    while (path !== undefined) {
      const page: Answer<Page> = await owner.get<Page>(path);
      found.push(...emails(page.body.members));
      path = page.body.nextCursor && `${first}&cursor=${page.body.nextCursor}`;
      expect(page.headers.get('link')).toBe(path === undefined ? null : `<${path}>; rel="next"`);
    }
    expect(found).toEqual(everybody());
  });

  it('has no next page in a whole list or on the last page', async () => {
    const small = await anOrgOf(owner, 'Small');

    for (const query of ['', '?limit=1', '?limit=2']) {
      const { body, headers } = await owner.get<Page>(`/api/orgs/${small.id}/members${query}`);
      expect(Object.keys(body), query).toEqual(['members']);
      expect(headers.get('link'), query).toBeNull();
    }
    const whole = await owner.get<Page>(`/api/orgs/${org.id}/members`);
    expect(Object.keys(whole.body)).toEqual(['members']);
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=1e9',
    'limit=NaN',
    'limit=x',
    'limit=',
    'limit=1&limit=2',
    'limit=5&cursor=x',
    'cursor=x',
  ])('refuses ?%s', async (query) => {
    const answer = await owner.get(`/api/orgs/${org.id}/members?${query}`);
    expect(answer, answer.text).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  });
});
