import { afterAll, describe, expect, it } from 'vitest';
import { notAMember } from '../support/expected.js';
import { anAccount, anOrg, anOrgOf, join } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('GET /api/orgs/:id/members', () => {
  it('lists all members in the order of joining, for every member', async () => {
    const { org, owner, admin, member } = await anOrg(service);

    for (const insider of [owner, admin, member]) {
      const answer = await insider.get(`/api/orgs/${org.id}/members`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        members: [
          { userId: owner.id, email: owner.email, role: 'owner' },
          { userId: admin.id, email: admin.email, role: 'admin' },
          { userId: member.id, email: member.email, role: 'member' },
        ],
      });
    }
  });

  it('is refused to users who are not members', async () => {
    const { org, outsider } = await anOrg(service);

    expect(await outsider.get(`/api/orgs/${org.id}/members`)).toMatchObject(notAMember);
  });

  it('orders members who joined at the same moment by id', async () => {
    const { org, owner } = await anOrg(service);
    await service.db.query('UPDATE members SET joined_at = 1 WHERE org_id = ?', [org.id]);

    const { body } = await owner.get<{ members: { userId: string }[] }>(`/api/orgs/${org.id}/members`);

    const ids = body.members.map(({ userId }) => userId);
    expect(ids).toEqual(ids.toSorted());
  });

  it('lists every member of a large organization', async () => {
    const owner = await anAccount(service, 'owner');
    const org = await anOrgOf(owner);
    const many = [];
    for (let count = 0; count < 150; count += 1) {
      many.push(await anAccount(service));
      await join(org, owner, many.at(-1)!, 'member');
    }

    const { body } = await owner.get<{ members: { userId: string }[] }>(`/api/orgs/${org.id}/members`);

    expect(body.members.map(({ userId }) => userId)).toEqual([owner.id, ...many.map(({ id }) => id)]);
  });
});
