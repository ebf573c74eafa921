import { afterAll, describe, expect, it } from 'vitest';
import { orgNotFound, passwordSessionRequired } from '../support/expected.js';
import { anOrg, anOrgWithTwoOwners, anUnknownId, byCode } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('restoring an organization', () => {
  const restore = (id: string): string => `/api/orgs/${id}/restore`;

  it('brings it back with the members of then who still have an account', async () => {
    const { org, owner, admin, member, coOwner } = await anOrgWithTwoOwners(service);
    const before = (await owner.get(`/api/orgs/${org.id}/members`)).body as { members: { userId: string }[] };
    await owner.delete(`/api/orgs/${org.id}`);
    expect((await member.delete('/api/me', { password: member.password })).status).toBe(200);

    const answer = await coOwner.post(restore(org.id));

    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({ org });
    const members = before.members.filter(({ userId }) => userId !== member.id);
    expect((await admin.get(`/api/orgs/${org.id}/members`)).body).toEqual({ members });
    expect((await admin.get('/api/me')).body).toMatchObject({ orgs: [org] });
    expect((await owner.get('/api/me/deleted-orgs')).body).toEqual({ orgs: [] });
    expect((await owner.patch(`/api/orgs/${org.id}/members/${admin.id}`, { role: 'member' })).status).toBe(
      200,
    );
  });

  it('is for nobody but its owners', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    await owner.delete(`/api/orgs/${org.id}`);

    for (const who of [admin, member, outsider]) {
      expect(await who.post(restore(org.id))).toMatchObject(orgNotFound);
      expect((await who.get('/api/me/deleted-orgs')).body).toEqual({ orgs: [] });
    }
    expect(await (await byCode(service, owner)).post(restore(org.id))).toMatchObject(passwordSessionRequired);
    expect((await owner.post(restore(org.id), {})).status).toBe(200);
  });

  it('needs one that is deleted, and exists', async () => {
    const { org, owner } = await anOrg(service);
    for (const id of [org.id, anUnknownId(), 'x'])
      expect(await owner.post(restore(id))).toMatchObject(orgNotFound);

    await owner.delete(`/api/orgs/${org.id}`);
    expect((await owner.post(restore(org.id))).status).toBe(200);
    expect(await owner.post(restore(org.id))).toMatchObject(orgNotFound);
  });

  it.each([
    ['its time is over', 'purge_at = 1'],
    ['its purge began, whatever the clock says', 'purge_began_at = 1'],
  ])('is refused once %s', async (_when, change) => {
    const { org, owner } = await anOrg(service);
    await owner.delete(`/api/orgs/${org.id}`);
    await service.db.query(`UPDATE orgs SET ${change} WHERE id = ?`, [org.id]);

    expect(await owner.post(restore(org.id))).toMatchObject(orgNotFound);
    expect((await owner.get('/api/me/deleted-orgs')).body).toEqual({ orgs: [] });
  });
});
