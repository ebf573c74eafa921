import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../support/caller.js';
import { insufficientRole, lastOwner, notAMember, orgNotFound, unauthorized } from '../support/expected.js';
import { anAccount, anOrg, anUnknownId, type Account, type Cast, type Role } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

interface Route {
  name: string;
  method: string;
  path: (orgId: string, userId: string) => string;
  body?: (newcomer: Account, userId: string) => object;
  success: number;
  least: Role;
  /** by the rule of the last owner */
  refusedToOwner?: true;
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
const ACTORS = ['nobody', 'outsider', 'admin of another', 'member', 'admin', 'owner'] as const;
type Actor = (typeof ACTORS)[number];
const ROLES: Role[] = ['member', 'admin', 'owner'];
const PLACES = ['own', 'missing', 'malformed'] as const;

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

  function callerFor(actor: Actor, cast: Cast): Caller {
    if (actor === 'nobody') return service.anyone;
    return actor === 'admin of another' ? other.admin : cast[actor];
  }

  const cases = ROUTES.flatMap((route) =>
    ACTORS.flatMap((actor) => PLACES.map((place) => ({ route, name: route.name, actor, place }))),
  );
  it.each(cases)('$actor: $name, $place id', async ({ route, actor, place }) => {
    const expected = expectedOf(route, actor, place);
    const cast = expected.status === route.success ? await anOrg(service) : unchanged;
    const caller = callerFor(actor, cast);
    const id = { own: cast.org.id, missing: anUnknownId(), malformed: '1abc' }[place];
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

function expectedOf(route: Route, actor: Actor, place: (typeof PLACES)[number]): { status: number } {
  if (actor === 'nobody') return unauthorized;
  if (place !== 'own') return orgNotFound;
  if (actor === 'outsider' || actor === 'admin of another') return notAMember;
  if (ROLES.indexOf(actor) < ROLES.indexOf(route.least)) return insufficientRole(route.least, actor);
  if (actor === 'owner' && route.refusedToOwner) return lastOwner;
  return { status: route.success };
}
