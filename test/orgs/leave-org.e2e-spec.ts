import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastOwner, notAMember } from '../support/expected.js';
import { anOrg, anOrgWithTwoOwners, byCode, ROLES } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

describe('leaving an organization', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const leave = (id: string): string => `/api/orgs/${id}/leave`;

  it.each(ROLES)('is for every %s', async (role) => {
    const cast = await anOrgWithTwoOwners(service);
    const who = cast[role];

    const answer = await who.post(leave(cast.org.id));

    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expect(await who.get(`/api/orgs/${cast.org.id}`)).toMatchObject(notAMember);
    expect(await who.post(leave(cast.org.id))).toMatchObject(notAMember);
    const { body } = await cast.coOwner.get(`/api/orgs/${cast.org.id}/members`);
    expect((body as { members: object[] }).members).toHaveLength(3);
  });

  it('takes an empty object, and a token from a code', async () => {
    const { org, member, admin } = await anOrg(service);

    expect((await member.post(leave(org.id), {})).status).toBe(200);
    expect((await (await byCode(service, admin)).post(leave(org.id))).status).toBe(200);
  });

  it('is refused to the last owner, and to the last who is enabled', async () => {
    const { org, owner, coOwner } = await anOrgWithTwoOwners(service);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [coOwner.id]);

    expect(await owner.post(leave(org.id))).toMatchObject(lastOwner);

    await service.db.query('UPDATE users SET disabled_at = NULL WHERE id = ?', [coOwner.id]);
    expect((await owner.post(leave(org.id))).status).toBe(200);
    expect(await coOwner.post(leave(org.id))).toMatchObject(lastOwner);
  });

  it('ends the pending invitations of who leaves, is demoted or removed, and no other', async () => {
    const { org, owner, admin, member, coOwner } = await anOrgWithTwoOwners(service);
    await service.db.query(
      `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
         created_at, expires_at) VALUES ${[owner, admin, member, coOwner].map(() => "(?, ?, ?, 'member', 'pending', 1, 1, 0, ?, 1, 4000000000000)").join()}`,
      [owner, admin, member, coOwner].flatMap(({ id, email }) => [id, org.id, email, id]),
    );
    const pending = async (): Promise<string[]> => {
      const rows = await service.db.query(
        'SELECT invited_by FROM invitations WHERE org_id = ? AND pending = 1',
        [org.id],
      );
      return rows.map(({ invited_by }) => String(invited_by)).toSorted();
    };
    const members = `/api/orgs/${org.id}/members`;

    expect((await coOwner.patch(`${members}/${owner.id}`, { role: 'admin' })).status).toBe(200);
    expect(await pending()).toEqual([owner.id, admin.id, member.id, coOwner.id].toSorted());
    expect((await coOwner.patch(`${members}/${owner.id}`, { role: 'member' })).status).toBe(200);
    expect(await pending()).toEqual([admin.id, member.id, coOwner.id].toSorted());
    expect((await coOwner.delete(`${members}/${admin.id}`)).status).toBe(200);
    expect(await pending()).toEqual([member.id, coOwner.id].toSorted());
    expect((await member.post(leave(org.id))).status).toBe(200);
    expect(await pending()).toEqual([coOwner.id]);
  });
});
