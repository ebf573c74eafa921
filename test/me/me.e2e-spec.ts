import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anAccount, anOrg, anOrgOf, join } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

describe('GET /api/me', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('answers with the user and an empty list without organizations', async () => {
    const ada = await anAccount(service, 'ada');

    const answer = await ada.get('/api/me');

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ user: { id: ada.id, email: ada.email }, orgs: [] });
  });

  it('lists organizations in the order of joining', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const theirs = await anOrgOf(grace, 'Older, joined last');
    const first = await anOrgOf(ada, 'Zeta');
    const second = await anOrgOf(ada, 'Alpha');
    await join(theirs, grace, ada, 'member');

    const answer = await ada.get('/api/me');

    expect(answer.body).toEqual({ user: { id: ada.id, email: ada.email }, orgs: [first, second, theirs] });
  });

  it('shows each organization to its members only', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);

    for (const insider of [owner, admin, member]) {
      expect((await insider.get('/api/me')).body).toMatchObject({ user: { id: insider.id }, orgs: [org] });
    }
    expect((await outsider.get('/api/me')).body).toMatchObject({ orgs: [] });
  });

  it('omits an organization that the user was removed from', async () => {
    const { org, owner, member } = await anOrg(service);

    await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);

    expect((await member.get('/api/me')).body).toMatchObject({ orgs: [] });
  });
});
