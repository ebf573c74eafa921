import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DocumentReader } from '../openapi/documented.js';
import { times } from '../support/at-once.js';
import {
  lastOwner,
  notAMember,
  orgNotFound,
  passwordSessionRequired,
  rateLimited,
} from '../support/expected.js';
import { makeOperator, showSecondFactor } from '../support/operators.js';
import { type Account, anAccount, anOrgOf, anUnknownId, byCode } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const LIMIT = 6;

describe('the limit of the changes of a user', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({
      env: { RATE_LIMIT_WRITES: `${LIMIT}/1h`, RATE_LIMIT_LOOKUP: '2/1h', RATE_LIMIT_LOGIN: 'off' },
    });
  });
  afterAll(() => service.stop());

  const spend = async (user: Account, count = LIMIT): Promise<void> => {
    for (const _ of times(count, () => 0)) {
      expect(await user.post(`/api/orgs/${anUnknownId()}/leave`)).toMatchObject(orgNotFound);
    }
  };
  const left = ({ headers }: { headers: Headers }) => headers.get('ratelimit')?.replaceAll(/;t=\d+/g, '');

  it('holds on every route that changes something for somebody who is signed in', async () => {
    const reader = await DocumentReader.of(service);
    const user = await anAccount(service);
    await makeOperator(service, user);
    await showSecondFactor(service, user);
    await spend(user);

    const open: string[] = [];
    for (const { method, path, operationId, requestBody } of reader.operations) {
      // It would end the session of the others.
      if (method === 'GET' || operationId === 'logOut') continue;
      const body = requestBody && {};
      const answer = await user.sendJson(method, path.replaceAll(/\{\w+\}/g, anUnknownId()), body);
      if (answer.status !== 429) open.push(operationId);
    }

    // Each answers without a token, too; introspection is for services.
    const forOthers = [
      'exchangeCode',
      'forgot',
      'introspectToken',
      'logInWithSecondFactor',
      'login',
      'refresh',
      'register',
      'reset',
    ];
    expect(open.toSorted()).toEqual(forOthers);
  });

  it('says what limits, for how long, and what is left', async () => {
    const user = await anAccount(service);
    const org = await anOrgOf(user);
    await spend(user, 2);

    const admitted = await user.patch(`/api/orgs/${org.id}`, { name: 'Another name' });
    expect(admitted.status).toBe(200);
    expect(admitted.headers.get('ratelimit-policy')).toBe(`"writes";q=${LIMIT};w=3600`);
    expect(left(admitted)).toBe(`"writes";r=${LIMIT - 4}`);
    await spend(user, 2);

    const refused = await user.patch(`/api/orgs/${org.id}`, { name: 'A third name' });
    expect(refused).toMatchObject(rateLimited);
    expect(refused.body).toMatchObject({
      detail: 'You have made too many changes; wait before the next one.',
    });
    expect(left(refused)).toBe('"writes";r=0');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
    expect((await user.get<{ orgs: object[] }>('/api/me')).body.orgs).toMatchObject([
      { name: 'Another name' },
    ]);
  });

  it('counts what is refused, what is only tried, and what is repeated', async () => {
    const [user, stranger] = [await anAccount(service), await anAccount(service)];
    const foreign = await anOrgOf(stranger);
    const once = user.with({ 'idempotency-key': 'once' });
    const created = await once.post<{ org: { id: string } }>('/api/orgs', { name: 'Once' });
    const repeated = await once.post('/api/orgs', { name: 'Once' });
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    const own = `/api/orgs/${created.body.org.id}`;
    expect((await user.delete(`${own}?dryRun=true`)).status).toBe(200);
    expect(await user.post(`${own}/leave`)).toMatchObject(lastOwner);
    expect(await user.post(`/api/orgs/${foreign.id}/leave`)).toMatchObject(notAMember);
    expect((await user.patch(own, { name: 3 })).status).toBe(400);

    expect(await once.post('/api/orgs', { name: 'Once' })).toMatchObject(rateLimited);
    expect((await user.get('/api/me')).status).toBe(200);
  });

  it('counts all sessions of a user together, and users apart', async () => {
    const user = await anAccount(service);
    const service1 = await byCode(service, user);
    await spend(service1, LIMIT - 2);
    expect(await service1.delete('/api/me/sessions')).toMatchObject(passwordSessionRequired);
    await spend(user, 1);

    for (const session of [user, service1]) {
      expect(await session.post('/api/orgs', { name: 'One more' })).toMatchObject(rateLimited);
    }
    await anOrgOf(await anAccount(service));
  });

  it('keeps nobody from logging out', async () => {
    const user = await anAccount(service);
    await spend(user);

    const { status, headers } = await user.post('/api/auth/logout');

    expect(status).toBe(200);
    expect(headers.get('ratelimit')).toBeNull();
    expect((await user.get('/api/me')).status).toBe(401);
  });

  it('stands beside the limit of a route in its headers', async () => {
    const user = await anAccount(service);
    const org = await anOrgOf(user);
    const add = () =>
      user.post(`/api/orgs/${org.id}/members`, { email: `${anUnknownId()}@example.com`, role: 'member' });

    const answers = [await add(), await add(), await add()];

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 429]);
    expect(answers.map(left)).toEqual([
      `"writes";r=${LIMIT - 2}, "lookup";r=1`,
      `"writes";r=${LIMIT - 3}, "lookup";r=0`,
      `"writes";r=${LIMIT - 4}, "lookup";r=0`,
    ]);
    expect(answers[2]!.body).toMatchObject({ detail: expect.stringMatching(/have no account/) });
    // A change that its own limit gives back stays counted here.
    const known = await user.post(`/api/orgs/${org.id}/members`, { email: user.email, role: 'member' });
    expect(left(known)).toBe(`"writes";r=${LIMIT - 5}, "lookup";r=0`);
  });

  it('admits exactly the limit of simultaneous changes', async () => {
    const user = await anAccount(service);

    const answers = await Promise.all(times(20, () => user.post('/api/orgs', { name: 'At once' })));

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(LIMIT);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - LIMIT);
  });
});

it('is off by default', async () => {
  const service = await startService();
  const user = await anAccount(service);
  const { status, headers } = await user.post('/api/orgs', { name: 'Unlimited' });
  expect(status).toBe(201);
  expect(headers.get('ratelimit-policy')).toBeNull();
  await service.stop();
});
