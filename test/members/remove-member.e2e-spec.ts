import { afterAll, describe, expect, it } from 'vitest';
import type { RawRequest } from '../support/caller.js';
import { memberNotFound, notAMember } from '../support/expected.js';
import { anOrg, anOrgWithTwoOwners, join } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('DELETE /api/orgs/:id/members/:uid', () => {
  it.each<[string, RawRequest]>([
    ['no body', {}],
    ['{}', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['an empty JSON body', { headers: { 'content-type': 'application/json' } }],
  ])('removes the member, with %s', async (_what, request) => {
    const { org, admin, member } = await anOrg(service);

    const answer = await admin.send('DELETE', `/api/orgs/${org.id}/members/${member.id}`, request);

    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({ ok: true });
    const list = await admin.get<{ members: { userId: string }[] }>(`/api/orgs/${org.id}/members`);
    expect(list.body.members.map(({ userId }) => userId)).not.toContain(member.id);
  });

  it('takes effect at the next request', async () => {
    const { org, owner, admin } = await anOrg(service);

    await owner.delete(`/api/orgs/${org.id}/members/${admin.id}`);

    expect(await admin.get(`/api/orgs/${org.id}`)).toMatchObject(notAMember);
    expect(await admin.get(`/api/orgs/${org.id}/members`)).toMatchObject(notAMember);
    expect(await admin.delete(`/api/orgs/${org.id}/members/${owner.id}`)).toMatchObject(notAMember);
  });

  it('answers 404 the second time', async () => {
    const { org, owner, member } = await anOrg(service);
    const remove = () => owner.delete(`/api/orgs/${org.id}/members/${member.id}`);

    expect((await remove()).status).toBe(200);
    expect(await remove()).toMatchObject(memberNotFound);
  });

  it('leaves the account, which can be added again in another role', async () => {
    const { org, owner, admin } = await anOrg(service);

    await owner.delete(`/api/orgs/${org.id}/members/${admin.id}`);

    expect((await admin.get('/api/me')).status).toBe(200);
    await join(org, owner, admin, 'member');
    expect((await admin.get(`/api/orgs/${org.id}`)).status).toBe(200);
  });

  it('does not reach members of another organization', async () => {
    const { org, admin } = await anOrg(service);
    const theirs = await anOrg(service);

    expect(await admin.delete(`/api/orgs/${org.id}/members/${theirs.member.id}`)).toMatchObject(
      memberNotFound,
    );
    expect(await admin.delete(`/api/orgs/${theirs.org.id}/members/${theirs.member.id}`)).toMatchObject(
      notAMember,
    );

    expect((await theirs.member.get(`/api/orgs/${theirs.org.id}`)).status).toBe(200);
  });

  it('lets admins and owners leave', async () => {
    const { org, owner, admin, coOwner } = await anOrgWithTwoOwners(service);

    for (const leaver of [admin, coOwner]) {
      const answer = await leaver.delete(`/api/orgs/${org.id}/members/${leaver.id}`);
      expect(answer.body).toEqual({ ok: true });
    }

    expect(
      (await owner.get<{ members: unknown[] }>(`/api/orgs/${org.id}/members`)).body.members,
    ).toHaveLength(2);
  });
});
