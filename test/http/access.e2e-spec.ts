import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Access } from '../../src/access/route-access.js';
import { accountsJson } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import type { Caller } from '../support/caller.js';
import { type DeclaredRoute, declaredRoutes } from '../support/declared-routes.js';
import { anAccount, anOrgOf, anUnknownId, byCode, join, type Account } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const PRINCIPALS = ['nobody', 'a service', 'a user by code', 'a user by password'] as const;
type Principal = (typeof PRINCIPALS)[number];

/** Every code by which a route is refused to a caller for who they are. */
const REFUSALS = [
  'unauthorized',
  'invalid_token',
  'invalid_client',
  'forbidden',
  'insufficient_scope',
  'operator_required',
  'insufficient_user_authentication',
  'password_session_required',
  'not_a_member',
  'insufficient_role',
];

const routes = await declaredRoutes();
const cases = routes.flatMap((route) =>
  PRINCIPALS.map((principal) => ({ route, at: `${route.method} ${route.path}`, principal })),
);

function refusalOf(access: Access, principal: Principal): string | undefined {
  if (access.to === 'everyone') return undefined;
  if (access.to === 'services') return principal === 'a service' ? undefined : 'invalid_client';
  if (principal === 'nobody') return 'unauthorized';
  if (principal === 'a service') return 'invalid_token';
  if (access.to === 'operators') return 'operator_required';
  return principal === 'a user by code' && access.assurance ? 'password_session_required' : undefined;
}

interface Subject {
  user: Account;
  orgId: string;
}

describe('each route, as it is declared', () => {
  let service: Service;
  let credentials: string;
  /** by their role: they change nothing */
  const readers = new Map<string, Promise<Subject>>();

  beforeAll(async () => {
    service = await startService();
    credentials = await aServiceWithEverything();
  });
  afterAll(() => service.stop());

  it('is one of the document', async () => {
    const { body } = await service.anyone.get<{ paths: Record<string, object> }>('/openapi.json');
    const documented = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(documented.toSorted());
  });

  it.each(cases)('$at: $principal', async ({ route, principal }) => {
    const answer = await ask(route, principal);

    const { code } = answer.body as { code?: string };
    expect(
      REFUSALS.find((one) => one === code),
      answer.text,
    ).toBe(refusalOf(route.access!, principal));
  });

  async function ask({ method, path, access }: DeclaredRoute, principal: Principal): Promise<Answer> {
    if (principal === 'nobody' || principal === 'a service') {
      const caller =
        principal === 'nobody' ? service.anyone : service.anyone.with({ authorization: credentials });
      return send(caller, method, path, anUnknownId());
    }
    const { user, orgId } = await (method === 'GET' ? aReaderFor(access!) : aUserFor(access!));
    const caller = principal === 'a user by code' ? await byCode(service, user) : user;
    return send(caller, method, path, orgId);
  }

  function aReaderFor(access: Access): Promise<Subject> {
    const kind = access.to === 'members' ? access.minRole : '';
    const reader = readers.get(kind) ?? aUserFor(access);
    readers.set(kind, reader);
    return reader;
  }

  /** A user of their own, since some routes end sessions or delete what they are about; with no more than the least role. */
  async function aUserFor(access: Access): Promise<Subject> {
    const user = await anAccount(service);
    if (access.to !== 'members') return { user, orgId: anUnknownId() };
    if (access.minRole === 'owner') return { user, orgId: (await anOrgOf(user)).id };
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    await join(org, owner, user, access.minRole);
    return { user, orgId: org.id };
  }

  function send(caller: Caller, method: string, path: string, orgId: string): Promise<Answer> {
    return caller.send(method, path.replace(':orgId', orgId).replaceAll(/:\w+/g, anUnknownId));
  }

  async function aServiceWithEverything(): Promise<string> {
    const name = `access-${Date.now()}`;
    const allow = 'introspect,memberships,events';
    const command = ['services', 'add', name, '--allow', allow, '--as', 'root', '--reason', 'a test'];
    const [added] = await accountsJson<{ secret: string }>(service.installation, command);
    const { secret } = added!;
    return `Basic ${btoa(`${name}:${secret}`)}`;
  }
});
