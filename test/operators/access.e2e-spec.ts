import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../support/caller.js';
import { declaredRoutes } from '../support/declared-routes.js';
import {
  boundTokenRefused,
  type ExpectedProblem,
  insufficientUserAuthentication,
  invalidToken,
  notFound,
  operatorRequired,
  unauthorized,
} from '../support/expected.js';
import { anOperator, makeOperator, showSecondFactor } from '../support/operators.js';
import { anAccount, anOrg, anUnknownId, byCode } from '../support/personas.js';
import { aBoundToken, aServiceCaller } from '../support/service-caller.js';
import { type Service, startService, startServiceWithoutLimits } from '../support/service.js';

const HOUR_MS = 3_600_000;

const routes = (await declaredRoutes())
  .filter(({ path }) => path.startsWith('/api/operators/'))
  .map(({ method, path, access }) => ({ at: `${method} ${path}`, method, path, access }));

const REFUSED: Record<string, ExpectedProblem> = {
  nobody: unauthorized,
  'a service': invalidToken,
  'a user': operatorRequired,
  'the owner of an organization, with a second factor': operatorRequired,
  'an operator without a second factor': insufficientUserAuthentication,
  'an operator with an old login': insufficientUserAuthentication,
  'an operator by a code': insufficientUserAuthentication,
  'an operator by a code for a service': boundTokenRefused,
  'somebody whom a shell revoked': operatorRequired,
};

describe('the routes of operators', () => {
  let service: Service;
  let operator: Caller;
  let callers: Record<string, Caller>;
  let orgId: string;

  beforeAll(async () => {
    service = await startServiceWithoutLimits();
    const { db, anyone } = service;
    const [granted, old, withoutFactor, revoked] = await Promise.all([
      anOperator(service),
      anOperator(service),
      anAccount(service),
      anOperator(service),
    ]);
    operator = granted;
    await db.query('UPDATE sessions SET auth_time = auth_time - ? WHERE user_id = ?', [HOUR_MS, old.id]);
    await makeOperator(service, withoutFactor);
    const { org, owner } = await anOrg(service);
    orgId = org.id;
    await showSecondFactor(service, owner);
    const billing = await aServiceCaller(service, 'introspect', 'memberships', 'events');
    callers = {
      nobody: anyone,
      'a service': billing,
      'a user': await anAccount(service),
      'the owner of an organization, with a second factor': owner,
      'an operator without a second factor': withoutFactor,
      'an operator with an old login': old,
      'an operator by a code': await byCode(service, granted),
      'an operator by a code for a service': granted.as(await aBoundToken(billing, granted)),
      'somebody whom a shell revoked': revoked,
    };
    await db.query('UPDATE users SET operator_since = NULL WHERE id = ?', [revoked.id]);
  });
  afterAll(() => service.stop());

  const ask = (caller: Caller, { method, path }: (typeof routes)[number]) =>
    caller.send(method, path.replace(':orgId', orgId).replaceAll(/:\w+/g, anUnknownId));

  it('are declared for operators', () => {
    expect(routes.length).toBeGreaterThan(0);
    expect(routes.filter(({ access }) => access?.to !== 'operators')).toEqual([]);
  });

  it.each(routes)('$at is refused to everybody else', async (route) => {
    for (const [who, expected] of Object.entries(REFUSED)) {
      expect(await ask(callers[who]!, route), who).toMatchObject(expected);
    }
  });

  it.each(routes)('$at is open to an operator', async (route) => {
    const { status } = await ask(operator, route);
    expect([200, 400, 404]).toContain(status);
  });

  it('tell an operator how recent a login they want (RFC 9470)', async () => {
    const answer = await ask(callers['an operator with an old login']!, routes[0]!);
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_user_authentication", max_age=3600',
    );
  });
});

describe('with other settings', () => {
  it('a login by password alone is enough where the second factor is optional, as long as it is recent', async () => {
    const service = await startService({
      env: { OPERATORS_SECOND_FACTOR: 'optional', OPERATORS_LOGIN_AGE: '10m' },
    });
    const operator = await anAccount(service);
    await makeOperator(service, operator);
    const path = `/api/operators/users/${anUnknownId()}/enable`;

    expect(await operator.post(path, { reason: 'a test' })).toMatchObject({ status: 404 });
    await service.db.query('UPDATE sessions SET auth_time = auth_time - 600000');
    const refused = await operator.post(path, { reason: 'a test' });
    await service.stop();

    expect(refused).toMatchObject(insufficientUserAuthentication);
    expect(refused.headers.get('www-authenticate')).toMatch(/ max_age=600$/);
  });

  it('there are none with OPERATORS_API=off, for an operator either', async () => {
    const service = await startService({ env: { OPERATORS_API: 'off' } });
    const operator = await anOperator(service);
    for (const { method, path } of routes) {
      for (const caller of [operator, service.anyone]) {
        const answer = await caller.send(method, path.replaceAll(/:\w+/g, anUnknownId));
        expect(answer, path).toMatchObject(notFound);
      }
    }
    const { text } = await service.anyone.get('/openapi.json');
    await service.stop();

    expect(text).not.toContain('/api/operators');
  });
});
