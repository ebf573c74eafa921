import { afterAll, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { alreadyMember, memberNotFound } from '../support/expected.js';
import { anAccount, anOrg, anOrgOf, join, type Account, type Org } from '../support/personas.js';
import { startClusterWithoutLimits } from '../support/service.js';

const ROUNDS = 20;
const CLIENTS = 20;

const cluster = await startClusterWithoutLimits();
afterAll(() => cluster.stop());

describe('changes of one membership at once', () => {
  const instance = (index: number) => cluster.instances[index % cluster.instances.length]!;
  const rolesOf = async (org: Org, who: Account) =>
    (
      await cluster.db.query('SELECT role FROM members WHERE org_id = ? AND user_id = ?', [org.id, who.id])
    ).map(({ role }) => role);

  it('add a user once', async () => {
    const { org, owner, admin, outsider } = await anOrg(instance(0));

    const answers = await atOnce(
      times(CLIENTS, (client) => () => {
        const by = (client % 2 ? owner : admin).at(instance(client));
        return by.post(`/api/orgs/${org.id}/members`, {
          email: outsider.email,
          role: client % 2 ? 'admin' : 'member',
        });
      }),
    );

    const winners = answers.filter(({ status }) => status === 201);
    expect(winners).toHaveLength(1);
    const losers = answers.filter(({ status }) => status !== 201);
    for (const loser of losers) expect(loser).toMatchObject(alreadyMember);
    const { member } = winners[0]!.body as { member: { role: string } };
    expect(await rolesOf(org, outsider)).toEqual([member.role]);
  });

  it('promote a member whom another removes: the removal comes last, or is refused', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { org, owner, admin, member } = await anOrg(instance(0));
      const path = `/api/orgs/${org.id}/members/${member.id}`;

      const [promoted, removed] = await atOnce([
        () => owner.patch(path, { role: 'owner' }),
        () => admin.at(instance(1)).delete(path),
      ]);

      const outcome = {
        promoted: promoted!.status,
        removed: removed!.status,
        roles: await rolesOf(org, member),
      };
      expect([
        { promoted: 200, removed: 403, roles: ['owner'] },
        { promoted: 404, removed: 200, roles: [] },
      ]).toContainEqual(outcome);
    }
  });

  it('remove a member once', async () => {
    const { org, owner, admin, member } = await anOrg(instance(0));

    const answers = await atOnce(
      times(CLIENTS, (client) => () => {
        const by = (client % 2 ? owner : admin).at(instance(client));
        return by.delete(`/api/orgs/${org.id}/members/${member.id}`);
      }),
    );

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const losers = answers.filter(({ status }) => status !== 200);
    for (const loser of losers) expect(loser).toMatchObject(memberNotFound);
    expect(await rolesOf(org, member)).toEqual([]);
  });

  it('of one user joining many organizations are all kept', async () => {
    const guest = await anAccount(instance(0), 'guest');
    const owners = await Promise.all(times(10, () => anAccount(instance(0), 'owner')));
    const orgs = await Promise.all(owners.map((owner) => anOrgOf(owner)));

    await atOnce(
      owners.map((owner, index) => () => join(orgs[index]!, owner.at(instance(index)), guest, 'member')),
    );

    const me = await guest.get<{ orgs: Org[] }>('/api/me');
    expect(me.body.orgs.map(({ id }) => id).toSorted()).toEqual(orgs.map(({ id }) => id).toSorted());
  });
});
