import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { accessCases, type AccessRoute, callerFor, idAt } from '../support/access-cases.js';
import { insufficientRole, passwordSessionRequired } from '../support/expected.js';
import {
  anAccount,
  anOrg,
  anOrgWithTwoOwners,
  byCode,
  type Account,
  type Cast,
} from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

interface Route extends AccessRoute {
  method: string;
  path: (orgId: string, userId: string) => string;
  body?: (newcomer: Account, userId: string) => object;
}

const ROUTES: Route[] = [
  { name: 'read', method: 'GET', path: (id) => `/api/orgs/${id}`, success: 200, least: 'member' },
  { name: 'list', method: 'GET', path: (id) => `/api/orgs/${id}/members`, success: 200, least: 'member' },
  {
    name: 'add',
    method: 'POST',
    path: (id) => `/api/orgs/${id}/members`,
    body: ({ email }) => ({ email, role: 'member' }),
    success: 201,
    least: 'admin',
  },
  {
    name: 'change',
    method: 'PATCH',
    path: (id, userId) => `/api/orgs/${id}/members/${userId}`,
    body: () => ({ role: 'member' }),
    success: 200,
    least: 'admin',
  },
  {
    name: 'remove',
    method: 'DELETE',
    path: (id, userId) => `/api/orgs/${id}/members/${userId}`,
    success: 200,
    least: 'admin',
  },
  {
    name: 'search',
    method: 'GET',
    path: (id) => `/api/orgs/${id}/members?search=a`,
    success: 200,
    least: 'member',
  },
  {
    name: 'read one',
    method: 'GET',
    path: (id, userId) => `/api/orgs/${id}/members/${userId}`,
    success: 200,
    least: 'member',
  },
  {
    name: 'rename',
    method: 'PATCH',
    path: (id) => `/api/orgs/${id}`,
    body: () => ({ name: 'Renamed' }),
    success: 200,
    least: 'admin',
  },
  {
    name: 'leave',
    method: 'POST',
    path: (id) => `/api/orgs/${id}/leave`,
    success: 200,
    least: 'member',
    refusedToOwner: true,
  },
  {
    name: 'transfer',
    method: 'POST',
    path: (id) => `/api/orgs/${id}/transfer`,
    body: (_, userId) => ({ userId }),
    success: 200,
    least: 'owner',
  },
  { name: 'delete', method: 'DELETE', path: (id) => `/api/orgs/${id}`, success: 200, least: 'owner' },
];

describe('access to an organization', () => {
  let service: Service;
  /** of the cases that change nothing */
  let unchanged: Cast;
  let other: Cast;
  let newcomer: Account;

  beforeAll(async () => {
    service = await startService();
    [unchanged, other] = [await anOrg(service), await anOrg(service)];
    newcomer = await anAccount(service, 'newcomer');
  });
  afterAll(() => service.stop());

  const cases = accessCases(ROUTES);
  it.each(cases)('$actor: $route.name, $place id', async ({ route, actor, place, expected, succeeds }) => {
    const cast = succeeds ? await anOrg(service) : unchanged;
    const caller = callerFor(actor, service, cast, other);
    const id = idAt(place, cast.org.id);
    const before = await cast.owner.get(`/api/orgs/${cast.org.id}`);

    const answer = await caller.sendJson(
      route.method,
      route.path(id, cast.member.id),
      route.body?.(newcomer, cast.member.id),
    );

    expect(answer, answer.text).toMatchObject(expected);
    const after = await cast.owner.get(`/api/orgs/${cast.org.id}`);
    expect(answer.status < 300 || isDeepStrictEqual(after.body, before.body), 'nothing has changed').toBe(
      true,
    );
  });
});

interface ChangeCase {
  name: string;
  send: (by: Account, cast: Cast & { coOwner: Account }) => Promise<Answer>;
}

const memberOf = ({ org }: Cast, { id }: Account): string => `/api/orgs/${org.id}/members/${id}`;

const OWNER_CASES: ChangeCase[] = [
  {
    name: 'make a member owner',
    send: (by, cast) => by.patch(memberOf(cast, cast.member), { role: 'owner' }),
  },
  {
    name: 'keep an owner owner',
    send: (by, cast) => by.patch(memberOf(cast, cast.coOwner), { role: 'owner' }),
  },
  {
    name: 'make an owner admin',
    send: (by, cast) => by.patch(memberOf(cast, cast.coOwner), { role: 'admin' }),
  },
  {
    name: 'remove an owner',
    send: (by, cast) => by.delete(memberOf(cast, cast.coOwner)),
  },
];

const MEMBER_CASES: ChangeCase[] = [
  {
    name: 'make a member admin',
    send: (by, cast) => by.patch(memberOf(cast, cast.member), { role: 'admin' }),
  },
  {
    name: 'remove a member',
    send: (by, cast) => by.delete(memberOf(cast, cast.member)),
  },
];

describe('a change about an owner', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it.each(OWNER_CASES)('$name: needs a login by password', async ({ send }) => {
    const cast = await anOrgWithTwoOwners(service);
    const before = await cast.owner.get(`/api/orgs/${cast.org.id}`);
    for (const admin of [cast.admin, await byCode(service, cast.admin)]) {
      expect(await send(admin, cast)).toMatchObject(insufficientRole('owner', 'admin'));
    }
    expect(await send(await byCode(service, cast.owner), cast)).toMatchObject(passwordSessionRequired);
    const after = await cast.owner.get(`/api/orgs/${cast.org.id}`);
    expect(after.body).toEqual(before.body);
    expect((await send(cast.owner, cast)).status).toBe(200);
  });

  it.each(MEMBER_CASES)('$name: needs none', async ({ send }) => {
    const cast = await anOrgWithTwoOwners(service);
    expect((await send(await byCode(service, cast.owner), cast)).status).toBe(200);
  });

  it('leave as an owner: needs a login by password', async () => {
    const cast = await anOrgWithTwoOwners(service);
    const leave = (by: Account) => by.post(`/api/orgs/${cast.org.id}/leave`);

    expect(await leave(await byCode(service, cast.coOwner))).toMatchObject(passwordSessionRequired);
    expect((await leave(await byCode(service, cast.member))).status).toBe(200);
    expect((await leave(cast.coOwner)).status).toBe(200);
  });

  it('so a service that holds the token of an owner cannot hand the organization to an accomplice', async () => {
    const { org, owner } = await anOrg(service);
    const accomplice = await anAccount(service, 'accomplice');
    const thief = await byCode(service, owner);
    const add = { email: accomplice.email, role: 'admin' };
    expect((await thief.post(`/api/orgs/${org.id}/members`, add)).status).toBe(201);

    const promote = await thief.patch(`/api/orgs/${org.id}/members/${accomplice.id}`, { role: 'owner' });
    const demote = await thief.patch(`/api/orgs/${org.id}/members/${owner.id}`, { role: 'member' });
    const again = await byCode(service, owner);
    const derived = await again.patch(`/api/orgs/${org.id}/members/${accomplice.id}`, { role: 'owner' });

    for (const answer of [promote, demote, derived]) expect(answer).toMatchObject(passwordSessionRequired);
    const removed = await accomplice.delete(`/api/orgs/${org.id}/members/${owner.id}`);
    expect(removed).toMatchObject(insufficientRole('owner', 'admin'));
    expect(await accomplice.delete(`/api/orgs/${org.id}`)).toMatchObject(insufficientRole('owner', 'admin'));
  });
});
