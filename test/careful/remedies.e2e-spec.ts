import { afterAll, describe, expect, it } from 'vitest';
import { invalidFields, lastOwner, notAMember } from '../support/expected.js';
import { type Account, anAccount, anOrg, anOrgOf, join, type Org } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('?remedy=true', () => {
  const demote = (by: Account, org: Org, who: Account, query: string) =>
    by.patch(`/api/orgs/${org.id}/members/${who.id}${query}`, { role: 'member' });
  const candidate = ({ id, email }: Account, role: string) => ({ userId: id, email, role });

  it('names the members who could be owner: enabled ones, admins first', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const disabled = await anAccount(service, 'disabled');
    await join(org, owner, disabled, 'admin');
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [disabled.id]);

    const remedy = {
      action: 'transfer',
      candidates: [candidate(admin, 'admin'), candidate(member, 'member')],
    };
    const removed = await owner.delete(`/api/orgs/${org.id}/members/${owner.id}?remedy=true`);
    for (const answer of [await demote(owner, org, owner, '?remedy=true'), removed]) {
      expect(answer).toMatchObject(lastOwner);
      expect((answer.body as { remedy: unknown }).remedy).toEqual(remedy);
    }
    const dry = await demote(owner, org, owner, '?remedy=true&dryRun=true');
    expect(dry).toMatchObject({ status: 409, body: { remedy } });
    expect(dry.headers.get('dry-run')).toBe('true');
  });

  it('names at most five, and none where nobody is', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const ask = async () => (await demote(owner, org, owner, '?remedy=true')).body;
    expect(await ask()).toMatchObject({ remedy: { action: 'transfer', candidates: [] } });
    for (let i = 0; i < 6; i += 1) await join(org, owner, await anAccount(service), 'member');
    const { remedy } = (await ask()) as { remedy: { candidates: unknown[] } };
    expect(remedy.candidates).toHaveLength(5);
  });

  it('is told to members only, where asked, and takes no other value', async () => {
    const { org, owner, outsider } = await anOrg(service);
    expect((await demote(owner, org, owner, '')).body).not.toHaveProperty('remedy');
    const told = await demote(outsider, org, owner, '?remedy=true');
    expect(told).toMatchObject(notAMember);
    expect(told.body).not.toHaveProperty('remedy');
    for (const query of ['?remedy=', '?remedy=1', '?remedy=TRUE', '?remedy=true&remedy=true']) {
      expect(await demote(owner, org, owner, query), query).toMatchObject(invalidFields('remedy'));
    }
  });

  it('names the first organization that needs another owner when an account is deleted', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    await anOrgOf(owner, 'Alone');

    const remove = () => owner.delete('/api/me?remedy=true', { password: owner.password });
    expect(await remove()).toMatchObject({
      status: 409,
      body: {
        code: 'last_owner',
        remedy: {
          action: 'transfer',
          orgId: org.id,
          candidates: [candidate(admin, 'admin'), candidate(member, 'member')],
        },
      },
    });
    await owner.patch(`/api/orgs/${org.id}/members/${admin.id}`, { role: 'owner' });
    const { body } = await remove();
    expect((body as { remedy: unknown }).remedy).toEqual({ action: 'transfer', candidates: [] });
  });
});
