import { afterAll, describe, expect, it } from 'vitest';
import { insufficientRole, invalidFields, memberNotFound } from '../support/expected.js';
import { anAccount, anOrg, anOrgOf, anUnknownId } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('PATCH /api/orgs/:id/members/:uid', () => {
  it('changes the role and answers with the member', async () => {
    const { org, owner, member } = await anOrg(service);

    const answer = await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ member: { userId: member.id, role: 'admin' } });
  });

  it.each(['owner', 'admin', 'member'] as const)(
    'changes nothing when the %s has the role already',
    async (role) => {
      const cast = await anOrg(service);
      const before = await cast.owner.get(`/api/orgs/${cast.org.id}/members`);

      const answer = await cast.owner.patch(`/api/orgs/${cast.org.id}/members/${cast[role].id}`, { role });

      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ member: { userId: cast[role].id, role } });
      expect((await cast.owner.get(`/api/orgs/${cast.org.id}/members`)).body).toEqual(before.body);
    },
  );

  it('takes effect at the next request, with the same tokens', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const add = () => admin.post(`/api/orgs/${org.id}/members`, { email: outsider.email, role: 'member' });

    await owner.patch(`/api/orgs/${org.id}/members/${admin.id}`, { role: 'member' });
    expect(await add()).toMatchObject(insufficientRole('admin', 'member'));

    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    const added = await member.post(`/api/orgs/${org.id}/members`, { email: outsider.email, role: 'member' });
    expect(added.status).toBe(201);
  });

  it.each([
    ['Owner'],
    ['root'],
    [''],
    ['admin '],
    ['member,owner'],
    [['owner']],
    [{ role: 'owner' }],
    [0],
    [true],
    [null],
  ])('refuses an unknown role: %j', async (role) => {
    const { org, owner, member } = await anOrg(service);

    const answer = await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role });

    expect(answer).toMatchObject(invalidFields('role'));
  });

  it('requires a role', async () => {
    const { org, owner, member } = await anOrg(service);

    expect(await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, {})).toMatchObject(
      invalidFields('role'),
    );
    expect((await owner.patch(`/api/orgs/${org.id}/members/${member.id}`)).status).toBe(400);
  });

  it.each([anUnknownId(), '1', 'me', '%00', '%F0%9F%90%8E', '__proto__', 'x'.repeat(300)])(
    'finds no member under the id %s',
    async (id) => {
      const { org, owner } = await anOrg(service);

      const answer = await owner.patch(`/api/orgs/${org.id}/members/${id}`, { role: 'admin' });

      expect(answer, answer.text).toMatchObject(memberNotFound);
    },
  );

  it('does not reach members of another organization', async () => {
    const { org, admin } = await anOrg(service);
    const theirs = await anOrg(service);
    const before = await theirs.owner.get(`/api/orgs/${theirs.org.id}/members`);

    for (const target of [theirs.member, theirs.admin, theirs.owner]) {
      const answer = await admin.patch(`/api/orgs/${org.id}/members/${target.id}`, { role: 'member' });
      expect(answer).toMatchObject(memberNotFound);
    }

    expect((await theirs.owner.get(`/api/orgs/${theirs.org.id}/members`)).body).toEqual(before.body);
  });

  it('changes one membership, not the others of the same user', async () => {
    const { org, owner, member } = await anOrg(service);
    const own = await anOrgOf(member, 'Own');

    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, {
      role: 'admin',
      orgId: own.id,
      userId: owner.id,
    });

    const ownList = await member.get(`/api/orgs/${own.id}/members`);
    expect(ownList.body).toEqual({ members: [{ userId: member.id, email: member.email, role: 'owner' }] });
    const list = await owner.get<{ members: { userId: string; role: string }[] }>(
      `/api/orgs/${org.id}/members`,
    );
    expect(list.body.members.find(({ userId }) => userId === owner.id)?.role).toBe('owner');
  });

  it('answers 404 for a user who was never added', async () => {
    const { org, owner } = await anOrg(service);
    const stranger = await anAccount(service);

    const answer = await owner.patch(`/api/orgs/${org.id}/members/${stranger.id}`, { role: 'owner' });

    expect(answer).toMatchObject(memberNotFound);
  });
});
