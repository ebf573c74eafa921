import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { accessCases, type AccessRoute, callerFor, idAt } from '../support/access-cases.js';
import type { Answer } from '../support/answer.js';
import {
  alreadyMember,
  idempotencyKeyReused,
  insufficientRole,
  invalidFields,
  lastOwner,
  malformedJson,
  memberNotFound,
  notAMember,
  orgNotFound,
  directSessionRequired,
  preconditionFailed,
  unauthorized,
  unsupportedMediaType,
  userNotFound,
} from '../support/expected.js';
import { anInvitation, invite, listed } from '../support/inviting.js';
import { addMember, changeRole, membersOf, removeMember } from '../support/org-members.js';
import type { Account, Cast, Org, Role } from '../support/personas.js';
import {
  anAccount,
  anEmail,
  anOrg,
  anOrgOf,
  anOrgWithTwoOwners,
  anUnknownId,
  byCode,
  join,
  ROLES,
} from '../support/personas.js';
import { startService } from '../support/service.js';
import type { Caller } from '../support/caller.js';

interface Route extends AccessRoute {
  method: string;
  /** below the organization */
  path: string;
  body?: (newcomer: Account, userId: string) => object;
}

const route = (
  name: string,
  method: string,
  path: string,
  least: Role,
  more: Partial<Route> = {},
): Route => ({
  name,
  method,
  path,
  least,
  success: 200,
  ...more,
});
/** `:uid` is a member, `:iid` an invitation that is pending. */
const ROUTES: Route[] = [
  route('read', 'GET', '', 'member'),
  route('list', 'GET', '/members', 'member'),
  route('add', 'POST', '/members', 'admin', {
    success: 201,
    body: ({ email }) => ({ email, role: 'member' }),
  }),
  route('change', 'PATCH', '/members/:uid', 'admin', { body: () => ({ role: 'member' }) }),
  route('remove', 'DELETE', '/members/:uid', 'admin'),
  route('search', 'GET', '/members?search=a', 'member'),
  route('read one', 'GET', '/members/:uid', 'member'),
  route('rename', 'PATCH', '', 'admin', { body: () => ({ name: 'Renamed' }) }),
  route('leave', 'POST', '/leave', 'member', { refusedToOwner: true }),
  route('transfer', 'POST', '/transfer', 'owner', { body: (_, userId) => ({ userId }) }),
  route('delete', 'DELETE', '', 'owner'),
  route('invite', 'POST', '/invitations', 'admin', {
    success: 201,
    body: () => ({ email: anEmail(), role: 'member', showCode: true }),
  }),
  route('list invitations', 'GET', '/invitations', 'admin'),
  route('read events', 'GET', '/events', 'admin'),
  route('resend', 'POST', '/invitations/:iid/resend', 'admin', { body: () => ({ showCode: true }) }),
  route('revoke', 'DELETE', '/invitations/:iid', 'admin'),
];

const service = await startService();
/** of the cases that change nothing */
const unchanged = await anInvitedOrg();
const other = await anOrg(service);
const newcomer = await anAccount(service, 'newcomer');

async function anInvitedOrg(): Promise<{ cast: Cast; invitationId: string }> {
  const cast = await anOrg(service);
  const { id } = await anInvitation(cast.owner, cast.org, { email: anEmail() });
  return { cast, invitationId: id };
}

describe('access to an organization', () => {
  it.each(accessCases(ROUTES))(
    '$actor: $route.name, $place id',
    async ({ route: asked, actor, place, expected, succeeds }) => {
      const { cast, invitationId } = succeeds ? await anInvitedOrg() : unchanged;
      const { owner, member, org } = cast;
      const state = async () => [(await owner.get(`/api/orgs/${org.id}`)).body, await listed(owner, org)];
      const before = succeeds ? undefined : await state();
      const path = asked.path.replace(':uid', member.id).replace(':iid', invitationId);
      const answer = await callerFor(actor, service, cast, other).sendJson(
        asked.method,
        `/api/orgs/${idAt(place, org.id)}${path}`,
        asked.body?.(newcomer, member.id),
      );
      expect(answer, answer.text).toMatchObject(expected);
      expect(!before || isDeepStrictEqual(await state(), before), 'nothing has changed').toBe(true);
    },
  );
});

interface Stage {
  org: Org;
  owner: Account;
  actor: Account;
  target: Account;
}

/** For each actor: on whom, and to what. Everything else is rejected. */
const MAY_CHANGE: Record<Role, { targets: readonly Role[]; roles: readonly Role[] }> = {
  member: { targets: [], roles: [] },
  admin: { targets: ['member', 'admin'], roles: ['member', 'admin'] },
  owner: { targets: ROLES, roles: ROLES },
};
const MAY_REMOVE: Record<Role, readonly Role[]> = { member: [], admin: ['member', 'admin'], owner: ROLES };

describe('what a role allows', () => {
  /** Two owners besides, so that the rule of the last owner stays out of the picture. */
  async function stage(actorRole: Role, targetRole: Role | 'self'): Promise<Stage> {
    const names = ['owner', 'co-owner', 'actor', ...(targetRole === 'self' ? [] : ['target'])];
    const cast = await Promise.all(names.map((name) => anAccount(service, name)));
    const [owner, coOwner, actor, target = actor] = cast as [Account, Account, Account, Account?];
    const org = await anOrgOf(owner);
    await join(org, owner, coOwner, 'owner');
    await join(org, owner, actor, actorRole);
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
  ])('%s: needs a direct session', async (_name, send) => {
    const cast = await anOrgWithTwoOwners(service);
    const { org, owner, admin } = cast;
    const before = await membersOf(owner, org);
    for (const by of [admin, await byCode(service, admin)])
      expect(await send(by, cast)).toMatchObject(insufficientRole('owner', 'admin'));
    expect(await send(await byCode(service, owner), cast)).toMatchObject(directSessionRequired);
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

  it('leave as an owner: needs a direct session', async () => {
    const { org, coOwner, member } = await anOrgWithTwoOwners(service);
    const leave = (by: Account) => by.post(`/api/orgs/${org.id}/leave`);
    expect(await leave(await byCode(service, coOwner))).toMatchObject(directSessionRequired);
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
    ])
      expect(answer).toMatchObject(directSessionRequired);
    const tooLow = insufficientRole('owner', 'admin');
    expect(await removeMember(accomplice, org, owner)).toMatchObject(tooLow);
    expect(await accomplice.delete(`/api/orgs/${org.id}`)).toMatchObject(tooLow);
  });
});

const DRY = '?dryRun=true';

/** Each request has every fault that comes after the one it must be answered with. */
describe('the order of checks', async () => {
  const { anyone } = service;
  const { org, owner, admin, member, outsider } = await anOrg(service);
  for (const who of [owner, outsider])
    await who.with({ 'idempotency-key': 'used' }).post('/api/orgs', { name: 'Once' });
  const derivedOwner = await byCode(service, owner);
  const derivedOutsider = await byCode(service, outsider);

  const nowhere = `/api/orgs/${anUnknownId()}`;
  const here = `/api/orgs/${org.id}`;
  const members = `${here}/members`;
  const tooLow = insufficientRole('admin', 'member');
  const notOwner = insufficientRole('owner', 'admin');
  const wrongRole = invalidFields('role');

  it('is the organization, membership, the role, the session, the body, and the target', async () => {
    const cases: [expected: object, by: Caller, method: string, path: string, body?: object][] = [
      // whether the organization exists, before the kind of session, which would tell that it does
      [orgNotFound, outsider, 'POST', `${nowhere}/members`, {}],
      [orgNotFound, outsider, 'PATCH', `${nowhere}/members/x`, {}],
      [orgNotFound, outsider, 'DELETE', `${nowhere}/members/x`],
      [orgNotFound, outsider, 'GET', `${nowhere}/members/x`],
      [orgNotFound, outsider, 'GET', `${nowhere}/members?search=`],
      [orgNotFound, outsider, 'PATCH', nowhere, {}],
      [orgNotFound, derivedOutsider, 'DELETE', nowhere],
      [orgNotFound, derivedOutsider, 'POST', `${nowhere}/transfer`, {}],
      [orgNotFound, derivedOutsider, 'POST', `${nowhere}/leave`, {}],
      // membership
      [notAMember, outsider, 'POST', members, {}],
      [notAMember, outsider, 'PATCH', `${members}/x`, {}],
      [notAMember, outsider, 'DELETE', `${members}/x`],
      [notAMember, outsider, 'GET', `${members}?role=`],
      [notAMember, outsider, 'POST', `${here}/invitations`, { showCode: 1 }],
      [notAMember, outsider, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }],
      [notAMember, derivedOutsider, 'DELETE', here],
      [notAMember, derivedOutsider, 'POST', `${here}/transfer`, {}],
      // the role
      [tooLow, member, 'POST', members, {}],
      [tooLow, member, 'PATCH', `${members}/x`, {}],
      [tooLow, member, 'DELETE', `${members}/x`],
      [tooLow, member, 'DELETE', `${members}/${owner.id}`],
      [tooLow, member, 'PATCH', here, {}],
      [tooLow, member, 'POST', `${here}/invitations`, { showCode: 1 }],
      [tooLow, member, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }],
      // the role, of an owner where one is needed
      [notOwner, admin, 'POST', `${here}/transfer`, {}],
      // the kind of session
      [directSessionRequired, derivedOwner, 'POST', `${here}/transfer`, {}],
      // the body
      [wrongRole, admin, 'POST', members, { email: anEmail(), role: 'owner' }],
      [wrongRole, admin, 'PATCH', `${members}/x`, { role: 'root' }],
      [wrongRole, admin, 'PATCH', `${members}/${owner.id}`, {}],
      [wrongRole, owner, 'POST', `${here}/invitations`, { email: member.email, role: 'owner' }],
      // the body of another route
      [invalidFields('showCode'), owner, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }],
      // the account of the email
      [userNotFound, admin, 'POST', members, { email: anEmail(), role: 'admin' }],
      // whether it is a member already
      [alreadyMember, admin, 'POST', members, { email: owner.email, role: 'admin' }],
      // the member
      [memberNotFound, admin, 'PATCH', `${members}/x`, { role: 'owner' }],
      [memberNotFound, admin, 'DELETE', `${members}/x`],
      [memberNotFound, admin, 'PATCH', `${members}/${anUnknownId()}`, { role: 'owner' }],
      [memberNotFound, admin, 'DELETE', `${members}/${anUnknownId()}`],
      // the role of the target, and last the rule of the last owner
      [notOwner, admin, 'PATCH', `${members}/${owner.id}`, { role: 'member' }],
      [notOwner, admin, 'DELETE', `${members}/${owner.id}`],
      [lastOwner, owner, 'DELETE', `${members}/${owner.id}`],
    ];
    for (const [expected, by, method, path, body] of cases) {
      const answer = await by.sendJson(method, path, body);
      expect(answer, `${method} ${path}: ${answer.text}`).toMatchObject(expected);
    }
  });

  it.each([`${here}/invitations`, `${here}/invitations/x/resend`])(
    'is the format of the body before its fields: POST %s',
    async (path) => {
      const send = (type: string, body: string) =>
        owner.send('POST', path, { headers: { 'content-type': type }, body });
      expect(await send('application/json', '[]')).toMatchObject(malformedJson);
      expect(await send('text/plain', '{}')).toMatchObject(unsupportedMediaType);
    },
  );

  describe('of a change with a precondition and an idempotency key', () => {
    const broken = { 'if-match': 'none', 'idempotency-key': '' };
    const used = { 'idempotency-key': 'used' };
    const demote = (
      by: Caller,
      headers: Record<string, string> = {},
      { role = 'member', at = here, query = '' } = {},
    ): Promise<Answer> =>
      by
        .with({ 'if-match': '"0"', 'idempotency-key': 'new', ...headers })
        .patch(`${at}/members/${owner.id}${query}`, { role });
    const wrong = { role: '', query: '?dryRun=no' };

    it.each<[string, () => Promise<Answer>, object]>([
      ['401', () => demote(anyone, used, { at: nowhere, role: '', query: DRY }), unauthorized],
      [
        '422',
        () => demote(outsider, { ...broken, ...used }, { at: nowhere, role: '', query: DRY }),
        idempotencyKeyReused,
      ],
      ['404', () => demote(outsider, broken, { at: nowhere, ...wrong }), orgNotFound],
      ['403', () => demote(outsider, broken, wrong), notAMember],
      ['400 of the headers', () => demote(owner, broken), invalidFields('If-Match', 'Idempotency-Key')],
      ['400 of the query', () => demote(owner, {}, { query: '?dryRun=no' }), invalidFields('dryRun')],
      ['400 of the body', () => demote(owner, {}, { role: '' }), invalidFields('role')],
      ['412', () => demote(owner), preconditionFailed],
      ['the rules', () => demote(owner, { 'if-match': '*' }), lastOwner],
    ])('is %s next', async (_name, send, expected) => {
      expect(await send()).toMatchObject(expected);
    });
  });
});
