import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { accessCases, type AccessRoute, callerFor, idAt } from '../support/access-cases.js';
import type { Answer } from '../support/answer.js';
import { insufficientRole, invalidFields, stepUpRequired } from '../support/expected.js';
import { anInvitation, invite, listed } from '../support/inviting.js';
import { addMember, changeRole, membersOf, removeMember } from '../support/org-members.js';
import type { Account, Cast, Org, Role } from '../support/personas.js';
import { anAccount, anEmail, anOrg, anOrgWithTwoOwners, byCode, join, ROLES } from '../support/personas.js';
import { startService } from '../support/service.js';

interface Route extends AccessRoute {
  method: string;
  /** below the organization */
  path: string;
  body?: (newcomer: Account, userId: string) => object;
}

const success = 200;
/** `:uid` is a member, `:iid` an invitation that is pending. */
const ROUTES: Route[] = [
  { name: 'read', method: 'GET', path: '', success, least: 'member' },
  { name: 'list', method: 'GET', path: '/members', success, least: 'member' },
  {
    name: 'add',
    method: 'POST',
    path: '/members',
    body: ({ email }) => ({ email, role: 'member' }),
    success: 201,
    least: 'admin',
  },
  {
    name: 'change',
    method: 'PATCH',
    path: '/members/:uid',
    body: () => ({ role: 'member' }),
    success,
    least: 'admin',
  },
  { name: 'remove', method: 'DELETE', path: '/members/:uid', success, least: 'admin' },
  { name: 'search', method: 'GET', path: '/members?search=a', success, least: 'member' },
  { name: 'read one', method: 'GET', path: '/members/:uid', success, least: 'member' },
  { name: 'rename', method: 'PATCH', path: '', body: () => ({ name: 'Renamed' }), success, least: 'admin' },
  { name: 'leave', method: 'POST', path: '/leave', success, least: 'member', refusedToOwner: true },
  {
    name: 'transfer',
    method: 'POST',
    path: '/transfer',
    body: (_, userId) => ({ userId }),
    success,
    least: 'owner',
  },
  { name: 'delete', method: 'DELETE', path: '', success, least: 'owner' },
  {
    name: 'invite',
    method: 'POST',
    path: '/invitations',
    body: () => ({ email: anEmail(), role: 'member', showCode: true }),
    success: 201,
    least: 'admin',
  },
  { name: 'list invitations', method: 'GET', path: '/invitations', success, least: 'admin' },
  {
    name: 'resend',
    method: 'POST',
    path: '/invitations/:iid/resend',
    body: () => ({ showCode: true }),
    success,
    least: 'admin',
  },
  { name: 'revoke', method: 'DELETE', path: '/invitations/:iid', success, least: 'admin' },
];

const service = await startService();
/** of the cases that change nothing */
const unchanged = await anInvitedOrg();
const other = await anOrg(service);
const newcomer = await anAccount(service, 'newcomer');
afterAll(() => service.stop());

async function anInvitedOrg(): Promise<{ cast: Cast; invitationId: string }> {
  const cast = await anOrg(service);
  const { id } = await anInvitation(cast.owner, cast.org, { email: anEmail() });
  return { cast, invitationId: id };
}

describe('access to an organization', () => {
  const cases = accessCases(ROUTES);
  it.each(cases)('$actor: $route.name, $place id', async ({ route, actor, place, expected, succeeds }) => {
    const { cast, invitationId } = succeeds ? await anInvitedOrg() : unchanged;
    const { owner, member, org } = cast;
    const state = async () => [(await owner.get(`/api/orgs/${org.id}`)).body, await listed(owner, org)];
    const before = succeeds ? undefined : await state();

    const path = route.path.replace(':uid', member.id).replace(':iid', invitationId);
    const answer = await callerFor(actor, service, cast, other).sendJson(
      route.method,
      `/api/orgs/${idAt(place, org.id)}${path}`,
      route.body?.(newcomer, member.id),
    );

    expect(answer, answer.text).toMatchObject(expected);
    expect(!before || isDeepStrictEqual(await state(), before), 'nothing has changed').toBe(true);
  });
});

interface Stage {
  org: Org;
  owner: Account;
  actor: Account;
  target: Account;
}

/** For each actor: on whom, and to what. Everything else is refused. */
const MAY_CHANGE: Record<Role, { targets: readonly Role[]; roles: readonly Role[] }> = {
  member: { targets: [], roles: [] },
  admin: { targets: ['member', 'admin'], roles: ['member', 'admin'] },
  owner: { targets: ROLES, roles: ROLES },
};
const MAY_REMOVE: Record<Role, readonly Role[]> = { member: [], admin: ['member', 'admin'], owner: ROLES };

describe('what a role allows', () => {
  /** Two owners besides, so that the rule of the last owner stays out of the picture. */
  async function stage(actorRole: Role, targetRole: Role | 'self'): Promise<Stage> {
    const { org, owner } = await anOrgWithTwoOwners(service);
    const actor = await anAccount(service, 'actor');
    await join(org, owner, actor, actorRole);
    const target = targetRole === 'self' ? actor : await anAccount(service, 'target');
    if (targetRole !== 'self') await join(org, owner, target, targetRole);
    return { org, owner, actor, target };
  }
  const roleOf = async ({ org, owner, target }: Stage) =>
    (await membersOf(owner, org)).find(({ userId }) => userId === target.id)?.role;
  const refusal = (actor: Role) => insufficientRole(actor === 'member' ? 'admin' : 'owner', actor);

  const pairs = ROLES.flatMap((actor) => ([...ROLES, 'self'] as const).map((target) => ({ actor, target })));
  const changes = pairs.flatMap((pair) => ROLES.map((role) => Object.assign({ role }, pair)));
  it.each(changes)('$actor changes $target to $role', async ({ actor, target, role }) => {
    const on = await stage(actor, target);
    const before = target === 'self' ? actor : target;
    const allowed = MAY_CHANGE[actor].targets.includes(before) && MAY_CHANGE[actor].roles.includes(role);

    const answer = await changeRole(on.actor, on.org, on.target, role);

    const done = { status: 200, body: { member: { userId: on.target.id, role } } };
    expect(answer).toMatchObject(allowed ? done : refusal(actor));
    expect(await roleOf(on)).toBe(allowed ? role : before);
  });

  it.each(pairs)('$actor removes $target', async ({ actor, target }) => {
    const on = await stage(actor, target);
    const before = target === 'self' ? actor : target;
    const allowed = MAY_REMOVE[actor].includes(before);

    const answer = await removeMember(on.actor, on.org, on.target);

    expect(answer).toMatchObject(allowed ? { status: 200, body: { ok: true } } : refusal(actor));
    expect(await roleOf(on)).toBe(allowed ? undefined : before);
  });

  const additions = ROLES.flatMap((actor) => (['member', 'admin'] as const).map((role) => ({ actor, role })));
  it.each(additions)('$actor adds a $role', async ({ actor, role }) => {
    const on = await stage(actor, 'self');
    const added = await anAccount(service, 'newcomer');

    const answer = await addMember(on.actor, on.org, added, role);

    const done = { status: 201, body: { member: { userId: added.id, role } } };
    expect(answer).toMatchObject(actor === 'member' ? refusal(actor) : done);
    const shown = (await membersOf(on.owner, on.org)).filter(({ userId }) => userId === added.id);
    expect(shown).toEqual(actor === 'member' ? [] : [{ userId: added.id, email: added.email, role }]);
    expect((await added.get(`/api/orgs/${on.org.id}`)).status).toBe(actor === 'member' ? 403 : 200);
  });

  const wishes = ROLES.flatMap((actor) => ROLES.map((role) => ({ actor, role })));
  it.each(wishes)('$actor invites as $role', async ({ actor, role }) => {
    const on = await stage(actor, 'self');

    const answer = await invite(on.actor, on.org, { email: anEmail(), role: role as 'member' });

    const done = role === 'owner' ? invalidFields('role') : { status: 201 };
    expect(answer).toMatchObject(actor === 'member' ? refusal(actor) : done);
  });
});

type Change = (by: Account, cast: Cast & { coOwner: Account }) => Promise<Answer>;

describe('a change about an owner', () => {
  it.each<[string, Change]>([
    ['make a member owner', (by, { org, member }) => changeRole(by, org, member, 'owner')],
    ['keep an owner owner', (by, { org, coOwner }) => changeRole(by, org, coOwner, 'owner')],
    ['make an owner admin', (by, { org, coOwner }) => changeRole(by, org, coOwner, 'admin')],
    ['remove an owner', (by, { org, coOwner }) => removeMember(by, org, coOwner)],
  ])('%s: needs a login by password', async (_name, send) => {
    const cast = await anOrgWithTwoOwners(service);
    const { org, owner, admin } = cast;
    const before = await membersOf(owner, org);
    for (const by of [admin, await byCode(service, admin)]) {
      expect(await send(by, cast)).toMatchObject(insufficientRole('owner', 'admin'));
    }
    expect(await send(await byCode(service, owner), cast)).toMatchObject(stepUpRequired);
    expect(await membersOf(owner, org)).toEqual(before);
    expect((await send(owner, cast)).status).toBe(200);
  });

  it.each<[string, Change]>([
    ['make a member admin', (by, { org, member }) => changeRole(by, org, member, 'admin')],
    ['remove a member', (by, { org, member }) => removeMember(by, org, member)],
  ])('%s: needs none', async (_name, send) => {
    const cast = await anOrgWithTwoOwners(service);
    expect((await send(await byCode(service, cast.owner), cast)).status).toBe(200);
  });

  it('leave as an owner: needs a login by password', async () => {
    const { org, coOwner, member } = await anOrgWithTwoOwners(service);
    const leave = (by: Account) => by.post(`/api/orgs/${org.id}/leave`);

    expect(await leave(await byCode(service, coOwner))).toMatchObject(stepUpRequired);
    expect((await leave(await byCode(service, member))).status).toBe(200);
    expect((await leave(coOwner)).status).toBe(200);
  });

  it('so a service that holds the token of an owner cannot hand the organization to an accomplice', async () => {
    const { org, owner } = await anOrg(service);
    const accomplice = await anAccount(service, 'accomplice');
    const thief = await byCode(service, owner);
    expect((await addMember(thief, org, accomplice, 'admin')).status).toBe(201);

    for (const answer of [
      await changeRole(thief, org, accomplice, 'owner'),
      await changeRole(thief, org, owner, 'member'),
      await changeRole(await byCode(service, owner), org, accomplice, 'owner'),
    ]) {
      expect(answer).toMatchObject(stepUpRequired);
    }
    const tooLow = insufficientRole('owner', 'admin');
    expect(await removeMember(accomplice, org, owner)).toMatchObject(tooLow);
    expect(await accomplice.delete(`/api/orgs/${org.id}`)).toMatchObject(tooLow);
  });
});
