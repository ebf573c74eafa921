import { afterAll, describe, expect, it } from 'vitest';
import { insufficientRole } from '../support/expected.js';
import {
  anAccount,
  anOrgWithTwoOwners,
  join,
  type Account,
  type Org,
  type Role,
  ROLES,
} from '../support/personas.js';
import { startService } from '../support/service.js';

/** For each actor: on whom, and to what. Everything else is refused. */
const MAY_CHANGE: Record<Role, { targets: readonly Role[]; roles: readonly Role[] }> = {
  member: { targets: [], roles: [] },
  admin: { targets: ['member', 'admin'], roles: ['member', 'admin'] },
  owner: { targets: ROLES, roles: ROLES },
};
const MAY_REMOVE: Record<Role, readonly Role[]> = { member: [], admin: ['member', 'admin'], owner: ROLES };

interface Stage {
  org: Org;
  actor: Account;
  target: Account;
  roleOfTarget: () => Promise<string | undefined>;
}

const service = await startService();
afterAll(() => service.stop());

describe('the role matrix', () => {
  /** Two owners besides, so that the rule of the last owner stays out of the picture. */
  async function stage(actorRole: Role, targetRole: Role | 'self'): Promise<Stage> {
    const { org, owner } = await anOrgWithTwoOwners(service);
    const actor = await anAccount(service, 'actor');
    await join(org, owner, actor, actorRole);
    const target = targetRole === 'self' ? actor : await anAccount(service, 'target');
    if (targetRole !== 'self') await join(org, owner, target, targetRole);
    const roleOfTarget = async () => {
      const { body } = await owner.get<{ members: { userId: string; role: string }[] }>(
        `/api/orgs/${org.id}/members`,
      );
      return body.members.find(({ userId }) => userId === target.id)?.role;
    };
    return { org, actor, target, roleOfTarget };
  }
  const refusal = (actor: Role) => insufficientRole(actor === 'member' ? 'admin' : 'owner', actor);

  const changes = ROLES.flatMap((actor) =>
    ([...ROLES, 'self'] as const).flatMap((target) => ROLES.map((role) => ({ actor, target, role }))),
  );
  it.each(changes)('$actor changes $target to $role', async ({ actor, target, role }) => {
    const { org, actor: who, target: whom, roleOfTarget } = await stage(actor, target);
    const before = target === 'self' ? actor : target;
    const allowed = MAY_CHANGE[actor].targets.includes(before) && MAY_CHANGE[actor].roles.includes(role);

    const answer = await who.patch(`/api/orgs/${org.id}/members/${whom.id}`, { role });

    const done = { status: 200, body: { member: { userId: whom.id, role } } };
    expect(answer).toMatchObject(allowed ? done : refusal(actor));
    expect(await roleOfTarget()).toBe(allowed ? role : before);
  });

  const removals = ROLES.flatMap((actor) =>
    ([...ROLES, 'self'] as const).map((target) => ({ actor, target })),
  );
  it.each(removals)('$actor removes $target', async ({ actor, target }) => {
    const { org, actor: who, target: whom, roleOfTarget } = await stage(actor, target);
    const before = target === 'self' ? actor : target;
    const allowed = MAY_REMOVE[actor].includes(before);

    const answer = await who.delete(`/api/orgs/${org.id}/members/${whom.id}`);

    expect(answer).toMatchObject(allowed ? { status: 200, body: { ok: true } } : refusal(actor));
    expect(await roleOfTarget()).toBe(allowed ? undefined : before);
  });

  const additions = ROLES.flatMap((actor) => (['member', 'admin'] as const).map((role) => ({ actor, role })));
  it.each(additions)('$actor adds a $role', async ({ actor, role }) => {
    const { org, actor: who } = await stage(actor, 'self');
    const newcomer = await anAccount(service, 'newcomer');

    const answer = await who.post(`/api/orgs/${org.id}/members`, { email: newcomer.email, role });

    const done = { status: 201, body: { member: { userId: newcomer.id, role } } };
    expect(answer).toMatchObject(actor === 'member' ? refusal(actor) : done);
    expect((await newcomer.get(`/api/orgs/${org.id}`)).status).toBe(actor === 'member' ? 403 : 200);
  });
});
