import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessCases, type AccessRoute, callerFor, idAt } from '../support/access-cases.js';
import { anAccount, anOrg, type Account, type Cast } from '../support/personas.js';
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
