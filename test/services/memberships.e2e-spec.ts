import { afterAll, describe, expect, it } from 'vitest';
import { insufficientScope, invalidClient, invalidFields } from '../support/expected.js';
import { type Account, anAccount, anOrg, anOrgOf, anUnknownId, join } from '../support/personas.js';
import { aServiceCaller } from '../support/services.js';
import { startServiceWithoutLimits } from '../support/service.js';

interface Page {
  memberships: { orgId: string; userId: string; role: string; orgRevision: number }[];
  nextCursor?: string;
}

const service = await startServiceWithoutLimits();
const billing = await aServiceCaller(service, 'memberships');
afterAll(() => service.stop());

describe('GET /api/memberships', () => {
  async function list(query: string): Promise<Page['memberships']> {
    const { status, body, text } = await billing.get<Page>(`/api/memberships?${query}`);
    expect(status, text).toBe(200);
    return body.memberships;
  }

  /** Follows the links of pages of this size, and returns their sizes, too. */
  async function listInPages(query: string, limit: number): Promise<[Page['memberships'], number[]]> {
    const all: Page['memberships'] = [];
    const sizes: number[] = [];
    for (let path = `/api/memberships?${query}&limit=${limit}`; path !== '';) {
      const { body, headers } = await billing.get<Page>(path);
      all.push(...body.memberships);
      sizes.push(body.memberships.length);
      const link = headers.get('link');
      expect(link === null).toBe(body.nextCursor === undefined);
      path = /^<([^>]+)>; rel="next"$/.exec(link ?? '')?.[1] ?? '';
      expect(path).toContain(body.nextCursor ?? '');
    }
    return [all, sizes];
  }

  it('lists the members of an organization in order of joining, with its revision', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const memberships = await list(`orgId=${org.id}`);
    const of = ({ id }: Account, role: string) => ({ orgId: org.id, userId: id, role, orgRevision: 3 });
    expect(memberships).toEqual([of(owner, 'owner'), of(admin, 'admin'), of(member, 'member')]);
    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    expect(await list(`orgId=${org.id}`)).toContainEqual({ ...of(member, 'admin'), orgRevision: 4 });
  });

  it('lists the organizations of a user in order of joining', async () => {
    const { org, owner, member } = await anOrg(service);
    const second = await anOrgOf(member, 'Another');
    const third = await anOrgOf(owner, 'A third');
    await join(third, owner, member, 'admin');
    expect(await list(`userId=${member.id}`)).toEqual([
      { orgId: org.id, userId: member.id, role: 'member', orgRevision: 3 },
      { orgId: second.id, userId: member.id, role: 'owner', orgRevision: 1 },
      { orgId: third.id, userId: member.id, role: 'admin', orgRevision: 2 },
    ]);
  });

  it('answers to both ids with one membership, or none', async () => {
    const { org, owner, outsider } = await anOrg(service);
    expect(await list(`orgId=${org.id}&userId=${owner.id}`)).toEqual([
      { orgId: org.id, userId: owner.id, role: 'owner', orgRevision: 3 },
    ]);
    expect(await list(`orgId=${org.id}&userId=${outsider.id}`)).toEqual([]);
    for (const query of [`orgId=${org.id}&userId=`, 'orgId=', 'userId='])
      expect(await list(`${query}${anUnknownId()}`)).toEqual([]);
  });

  it('comes in pages that leave nothing out and repeat nothing, whatever joined within a millisecond', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const another = await anOrgOf(owner);
    await join(another, owner, member, 'member');
    await join(org, owner, outsider, 'member');
    await service.db.query('UPDATE members SET joined_at = 5 WHERE org_id = ?', [org.id]);
    await service.db.query('UPDATE members SET joined_at = 5 WHERE user_id = ?', [member.id]);
    const [ofOrg, sizes] = await listInPages(`orgId=${org.id}`, 1);
    expect(sizes).toEqual([1, 1, 1, 1]);
    expect(ofOrg.map(({ userId }) => userId)).toEqual(
      [owner, admin, member, outsider].map(({ id }) => id).toSorted(),
    );
    const [ofUser, sizesOfUser] = await listInPages(`userId=${member.id}`, 1);
    expect(sizesOfUser).toEqual([1, 1]);
    expect(ofUser.map(({ orgId }) => orgId)).toEqual([org.id, another.id].toSorted());
    expect((await listInPages(`orgId=${org.id}`, 2))[1]).toEqual([2, 2]);
    expect((await listInPages(`orgId=${org.id}&userId=${owner.id}`, 1))[1]).toEqual([1]);
  });

  it('leaves out disabled users and deleted organizations, in full pages', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const deleted = await anOrgOf(member, 'Deleted');
    await member.delete(`/api/orgs/${deleted.id}`);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [admin.id]);
    const [ofOrg, sizes] = await listInPages(`orgId=${org.id}`, 2);
    expect([ofOrg.map(({ userId }) => userId), sizes]).toEqual([[owner.id, member.id], [2]]);
    expect(await list(`userId=${admin.id}`)).toEqual([]);
    expect(await list(`orgId=${org.id}&userId=${admin.id}`)).toEqual([]);
    expect((await list(`userId=${member.id}`)).map(({ orgId }) => orgId)).toEqual([org.id]);
    expect(await list(`orgId=${deleted.id}`)).toEqual([]);
    expect(await list(`orgId=${deleted.id}&userId=${member.id}`)).toEqual([]);
  });

  it.each<[string, string[]]>([
    ['', ['orgId']],
    ['limit=5', ['orgId']],
    ['orgId=', ['orgId']],
    ['userId=', ['userId']],
    ['orgId=1abc', ['orgId']],
    ['orgId=x&userId=y', ['orgId', 'userId']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b', ['orgId']],
    ['orgId[]=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b', ['orgId']],
    ['orgId=01A1FBF4-7EA2-724E-B0F0-4AD107BA025B', ['orgId']],
    ['orgId=%00', ['orgId']],
    ['org_id=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b', ['orgId']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&limit=0', ['limit']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&limit=1001', ['limit']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&cursor=x', ['cursor']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&userId=x&limit=x&cursor=', ['userId', 'limit', 'cursor']],
  ])('refuses the query %s', async (query, fields) => {
    expect(await billing.get(`/api/memberships?${query}`)).toMatchObject(invalidFields(...fields));
  });

  it('is for services that are allowed it', async () => {
    const ada = await anAccount(service, 'ada');
    const other = await aServiceCaller(service, 'introspect', 'events');
    for (const caller of [service.anyone, ada]) {
      expect(await caller.get(`/api/memberships?userId=${ada.id}`)).toMatchObject(invalidClient);
      expect(await caller.get('/api/memberships')).toMatchObject(invalidClient);
    }
    expect(await other.get(`/api/memberships?userId=${ada.id}`)).toMatchObject(
      insufficientScope('memberships'),
    );
  });
});
