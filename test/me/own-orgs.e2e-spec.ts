import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { invalidFields } from '../support/expected.js';
import { anAccount, anOrgOf, join, type Org } from '../support/personas.js';
import { startService } from '../support/service.js';

interface Page {
  orgs: { id: string; name: string }[];
  nextCursor?: string;
}

const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const LISTS = ['/api/me/orgs', '/api/me/deleted-orgs'];

const service = await startService();
const ada = await anAccount(service, 'ada');
const grace = await anAccount(service, 'grace');
const theirs = await anOrgOf(grace, 'Joined last');
const orgs: Org[] = [];
for (const name of ['Zeta', 'Alpha', 'Beta']) orgs.push(await anOrgOf(ada, name));
await join(theirs, grace, ada, 'member');
orgs.push(theirs);
// Of the same moment, so that the id decides, too.
await service.db.query(
  `UPDATE members SET joined_at = 1700000000000 WHERE user_id = ? AND org_id IN (?, ?)`,
  [ada.id, orgs[0]!.id, orgs[1]!.id],
);
afterAll(() => service.stop());

describe('the organizations of a user', () => {
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
    for (const limit of ['0', '1001', '-1', 'x', '1.5', '']) {
      expect(await ada.get(`${path}?limit=${limit}`), limit).toMatchObject(invalidFields('limit'));
    }
    for (const cursor of ['x', '', 'OmFkYQ', 'a'.repeat(500)]) {
      expect(await ada.get(`${path}?cursor=${cursor}`), cursor).toMatchObject(invalidFields('cursor'));
    }
  });
});
