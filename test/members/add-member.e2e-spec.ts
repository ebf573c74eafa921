import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { alreadyMember, invalidFields, userNotFound } from '../support/expected.js';
import { anAccount, anEmail, anOrg, anOrgOf } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('POST /api/orgs/:id/members', () => {
  it.each(['member', 'admin'])('adds a registered user as %s', async (role) => {
    const { org, admin, outsider } = await anOrg(service);

    const answer = await admin.post(`/api/orgs/${org.id}/members`, { email: outsider.email, role });

    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ member: { userId: outsider.id, role } });
    const list = await outsider.get<{ members: object[] }>(`/api/orgs/${org.id}/members`);
    expect(list.body.members.at(-1)).toEqual({ userId: outsider.id, email: outsider.email, role });
  });

  it('answers 404 for an e-mail without an account', async () => {
    const { org, owner } = await anOrg(service);

    const answer = await owner.post(`/api/orgs/${org.id}/members`, { email: anEmail(), role: 'member' });

    expect(answer).toMatchObject(userNotFound);
  });

  it('refuses an existing member, and leaves the role unchanged', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const before = await owner.get(`/api/orgs/${org.id}/members`);

    for (const [who, role] of [
      [owner, 'member'],
      [admin, 'member'],
      [member, 'admin'],
      [member, 'member'],
    ] as const) {
      const answer = await admin.post(`/api/orgs/${org.id}/members`, { email: who.email, role });
      expect(answer).toMatchObject(alreadyMember);
    }

    expect((await owner.get(`/api/orgs/${org.id}/members`)).body).toEqual(before.body);
  });

  it.each([
    ['owner'],
    ['Owner'],
    ['ADMIN'],
    ['root'],
    [''],
    [' member'],
    ['member,admin'],
    [['admin']],
    [0],
    [null],
    [{}],
  ])('refuses a role other than member and admin: %j', async (role) => {
    const { org, owner, outsider } = await anOrg(service);

    const answer = await owner.post(`/api/orgs/${org.id}/members`, { email: outsider.email, role });

    expect(answer).toMatchObject(invalidFields('role'));
    expect((await outsider.get('/api/me')).body).toMatchObject({ orgs: [] });
  });

  it('names every field that is wrong', async () => {
    const { org, owner } = await anOrg(service);
    const add = (body: unknown) => owner.post(`/api/orgs/${org.id}/members`, body);

    expect(await add({})).toMatchObject(invalidFields('email', 'role'));
    expect(await add({ email: [owner.email], role: 'member' })).toMatchObject(invalidFields('email'));
    expect(await add({ email: { $gt: '' }, role: 'member' })).toMatchObject(invalidFields('email'));
    expect(await add({ userId: owner.id, role: 'member' })).toMatchObject(invalidFields('email'));
  });

  it('ignores unknown fields, and never binds them', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const other = await anOrgOf(owner, 'Other');

    const answer = await owner.post(`/api/orgs/${org.id}/members`, {
      email: outsider.email,
      role: 'member',
      userId: owner.id,
      orgId: other.id,
      organizationId: other.id,
      isAdmin: true,
      joinedAt: 0,
    });

    expect(answer.body).toEqual({ member: { userId: outsider.id, role: 'member' } });
    const others = await owner.get<{ members: object[] }>(`/api/orgs/${other.id}/members`);
    expect(others.body.members).toHaveLength(1);
  });

  it('does not tell members and outsiders who has an account', async () => {
    const { org, member, outsider } = await anOrg(service);
    const known = await anAccount(service);

    for (const nosy of [member, outsider]) {
      const add = async (email: string) => {
        const answer = await nosy.post(`/api/orgs/${org.id}/members`, { email, role: 'member' });
        expect(answer.status).toBe(403);
        return withoutRequestId(answer);
      };
      expect(await add(known.email)).toEqual(await add(`${randomUUID()}@example.com`));
    }
  });
});

function withoutRequestId({ body }: Answer): object {
  return { ...(body as object), requestId: 'any' };
}
