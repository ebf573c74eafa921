import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { anOrgPurge } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { examine } from '../support/doctor.js';
import { anInstallation } from '../support/installation.js';
import { anOrg } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;

const installation = await anInstallation();
const service = await startOwnService({ installation });
const cast = await anOrg(service);
await cast.owner.delete(`/api/orgs/${cast.org.id}`);
afterAll(() => installation.remove());

describe('an operator, of a deleted organization', () => {
  it('is told that it is deleted, by every command that shows it', async () => {
    const { org, admin } = cast;
    const deletion = { deletedAt: A_TIME, purgeAt: A_TIME };

    const [shown] = await accountsJson<object>(installation, ['orgs', 'show', org.id]);
    expect(shown).toMatchObject({ id: org.id, ...deletion, counts: { owner: 1, admin: 1, member: 1 } });
    expect((await accounts(installation, ['orgs', 'show', org.id])).stdout).toMatch(/^deletedAt {2}\S+Z$/m);
    const [user] = await accountsJson<object>(installation, ['users', 'show', admin.email]);
    expect(user).toMatchObject({ orgs: [{ id: org.id, role: 'admin', deletedAt: A_TIME }] });
    expect((await accounts(installation, ['users', 'show', admin.email])).stdout).toMatch(/ DELETED$/m);
    const { stdout } = await accounts(installation, ['export', admin.email]);
    expect(JSON.parse(stdout)).toMatchObject({ organizations: [{ id: org.id, deletedAt: A_TIME }] });
  });

  it('makes no owner there', async () => {
    const { org, admin } = cast;
    const { code, stderr } = await accounts(installation, ['orgs', 'set-owner', org.id, admin.id]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('(org_not_found)')]);
  });

  it('disables and deletes its owners', async () => {
    const { owner } = cast;
    expect(await accounts(installation, ['users', 'disable', owner.id])).toMatchObject({ code: 0 });
    expect(await accounts(installation, ['users', 'delete', owner.id])).toMatchObject({ code: 0 });
  });

  it('finds the data sound before, amid and after its purge', async () => {
    const { org, admin } = cast;
    await service.stop();
    expect((await examine(installation)).code).toBe(0);

    const now = Date.now();
    const began = 'UPDATE orgs SET purge_at = ?, purge_began_at = ? WHERE id = ?';
    await installation.db.query(began, [now, now, org.id]);
    await installation.db.query('DELETE FROM members WHERE user_id = ?', [admin.id]);
    expect((await examine(installation)).code).toBe(0);

    const dataSource = await aDataSource(installation);
    await anOrgPurge(dataSource).purgeBatch(now);
    await dataSource.destroy();
    expect(await installation.db.query('SELECT * FROM orgs')).toEqual([]);
    expect((await examine(installation)).code).toBe(0);
  });
});
