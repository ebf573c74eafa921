import { afterAll, describe, expect, it } from 'vitest';
import { lastOwner, memberDisabled } from '../support/expected.js';
import { anOrg, anOrgWithTwoOwners } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('the last owner', () => {
  it.each(['admin', 'member'])('cannot become %s', async (role) => {
    const { org, owner } = await anOrg(service);

    const answer = await owner.patch(`/api/orgs/${org.id}/members/${owner.id}`, { role });

    expect(answer).toMatchObject(lastOwner);
    expect((await owner.get(`/api/orgs/${org.id}`)).body).toMatchObject({
      org: { members: [{ userId: owner.id, role: 'owner' }, {}, {}] },
    });
  });

  it('cannot leave', async () => {
    const { org, owner } = await anOrg(service);

    expect(await owner.delete(`/api/orgs/${org.id}/members/${owner.id}`)).toMatchObject(lastOwner);
    expect((await owner.get(`/api/orgs/${org.id}`)).status).toBe(200);
  });

  it('may be set to owner again', async () => {
    const { org, owner } = await anOrg(service);

    const answer = await owner.patch(`/api/orgs/${org.id}/members/${owner.id}`, { role: 'owner' });

    expect(answer.status).toBe(200);
  });

  it('is the one that remains after the others left', async () => {
    const { org, owner, coOwner } = await anOrgWithTwoOwners(service);

    expect((await owner.patch(`/api/orgs/${org.id}/members/${owner.id}`, { role: 'member' })).status).toBe(
      200,
    );

    expect(await coOwner.patch(`/api/orgs/${org.id}/members/${coOwner.id}`, { role: 'admin' })).toMatchObject(
      lastOwner,
    );
    expect(await coOwner.delete(`/api/orgs/${org.id}/members/${coOwner.id}`)).toMatchObject(lastOwner);
  });

  it('can leave after promoting another', async () => {
    const { org, owner, member } = await anOrg(service);

    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'owner' });

    expect((await owner.delete(`/api/orgs/${org.id}/members/${owner.id}`)).status).toBe(200);
    expect(await member.delete(`/api/orgs/${org.id}/members/${member.id}`)).toMatchObject(lastOwner);
  });

  it('is not counted while disabled, nor made of somebody who is', async () => {
    const { org, owner, coOwner, member } = await anOrgWithTwoOwners(service);
    const members = `/api/orgs/${org.id}/members`;
    for (const { id } of [coOwner, member])
      await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [id]);

    expect(await owner.patch(`${members}/${member.id}`, { role: 'owner' })).toMatchObject(memberDisabled);
    expect((await owner.patch(`${members}/${member.id}`, { role: 'admin' })).status).toBe(200);
    expect((await owner.patch(`${members}/${coOwner.id}`, { role: 'owner' })).status).toBe(200);
    expect(await owner.patch(`${members}/${owner.id}`, { role: 'admin' })).toMatchObject(lastOwner);
    expect(await owner.delete(`${members}/${owner.id}`)).toMatchObject(lastOwner);
  });
});
