import { afterAll, describe, expect, it } from 'vitest';
import { insufficientRole, invalidFields } from '../support/expected.js';
import { anOrg } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
const cast = await anOrg(service);
afterAll(() => service.stop());

describe('renaming an organization', () => {
  it.each(['admin', 'owner'] as const)('is for an %s, and seen by everybody', async (role) => {
    const { org } = cast;
    const name = `Named by the ${role} \u00c5`;

    const answer = await cast[role].patch(`/api/orgs/${org.id}`, { name: `  ${name.normalize('NFD')} ` });

    expect(answer).toMatchObject({ status: 200, body: { org: { id: org.id, name } } });
    expect(answer.body).toEqual({ org: { id: org.id, name } });
    expect((await cast.member.get(`/api/orgs/${org.id}`)).body).toMatchObject({ org: { name } });
    expect((await cast.member.get('/api/me')).body).toMatchObject({ orgs: [{ name }] });
  });

  it('to the name it has changes nothing', async () => {
    const { org, owner } = await anOrg(service);
    expect((await owner.patch(`/api/orgs/${org.id}`, { name: org.name })).body).toEqual({ org });
  });

  it('is refused to a member', async () => {
    const { org, member } = cast;
    expect(await member.patch(`/api/orgs/${org.id}`, { name: 'Mine' })).toMatchObject(
      insufficientRole('admin', 'member'),
    );
  });

  it.each([
    {},
    { name: '' },
    { name: ' ' },
    { name: 'x'.repeat(101) },
    { name: 'a\u0000b' },
    { name: 7 },
    { name: null },
  ])('refuses %j', async (body) => {
    expect(await cast.owner.patch(`/api/orgs/${cast.org.id}`, body)).toMatchObject(invalidFields('name'));
  });
});
