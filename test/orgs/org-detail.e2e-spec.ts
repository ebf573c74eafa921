import { afterAll, describe, expect, it } from 'vitest';
import { notAMember, orgNotFound } from '../support/expected.js';
import { anAccount, anOrg, anUnknownId } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('GET /api/orgs/:id', () => {
  it('shows the organization and its members to every member', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const members = [
      { userId: owner.id, email: owner.email, role: 'owner' },
      { userId: admin.id, email: admin.email, role: 'admin' },
      { userId: member.id, email: member.email, role: 'member' },
    ];

    for (const insider of [owner, admin, member]) {
      const answer = await insider.get(`/api/orgs/${org.id}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ org: { ...org, members } });
    }
  });

  it('is refused to users who are not members', async () => {
    const { org, outsider } = await anOrg(service);

    expect(await outsider.get(`/api/orgs/${org.id}`)).toMatchObject(notAMember);
  });

  it.each([
    ['unknown', anUnknownId()],
    ['a number', '1'],
    ['zero', '0'],
    ['text', 'nonsense'],
    ['a list', '[]'],
    ['an object', '%7B%22%24ne%22%3A1%7D'],
    ['NUL', '%00'],
    ['an emoji', '%F0%9F%90%8E'],
    ['an encoded slash', '..%2f..%2fetc%2fpasswd'],
    ['SQL', "'%20OR%20'1'='1"],
    ['a wildcard', '%25'],
    ['a space', '%20'],
    ['100 characters', 'x'.repeat(100)],
    ['300 characters', 'x'.repeat(300)],
    ['__proto__', '__proto__'],
  ])('answers 404 for an id that is %s', async (_what, id) => {
    const answer = await ada.get(`/api/orgs/${id}`);

    expect(answer, answer.text).toMatchObject(orgNotFound);
    expect((await ada.get(`/api/orgs/${id}/members`)).status).toBe(404);
    expect((await ada.patch(`/api/orgs/${id}/members/${id}`, { role: 'admin' })).status).toBe(404);
  });

  it.each<[string, (id: string) => string]>([
    ['in capitals', (id) => id.toUpperCase()],
    ['with a space after it', (id) => `${id}%20`],
    ['with text after it', (id) => `${id}x`],
    ['without its hyphens', (id) => id.replaceAll('-', '')],
    ['cut short', (id) => id.slice(0, -1)],
    ['in braces', (id) => `%7B${id}%7D`],
  ])('finds nothing under its id %s', async (_what, change) => {
    const { org, owner } = await anOrg(service);

    expect(await owner.get(`/api/orgs/${change(org.id)}`)).toMatchObject(orgNotFound);
  });
});
