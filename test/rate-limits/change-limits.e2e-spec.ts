import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DocumentReader } from '../openapi/documented.js';
import { times } from '../support/at-once.js';
import {
  alreadyMember,
  insufficientRole,
  invalidFields,
  lastOwner,
  notAMember,
  orgNotFound,
  directSessionRequired,
  rateLimited,
  unauthorized,
  userNotFound,
} from '../support/expected.js';
import { makeOperator, showSecondFactor } from '../support/operators.js';
import type { Account, Org } from '../support/personas.js';
import { anAccount, anEmail, anOrg, anOrgOf, anUnknownId, byCode } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const LOOKUPS = 3;
const LIMIT = 6;

const add = (org: Org, by: Account, email: string = anEmail()) =>
  by.post(`/api/orgs/${org.id}/members`, { email, role: 'member' });

describe('the limit of additions of unknown e-mails', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { RATE_LIMIT_LOOKUP: `${LOOKUPS}/1h` } });
  });
  afterAll(() => service.stop());

  it('refuses every addition by a user who probes, before the look-up', async () => {
    const { org, owner, admin, outsider } = await anOrg(service);
    for (const left of [2, 1, 0]) {
      const missed = await add(org, owner);
      expect(missed).toMatchObject(userNotFound);
      expect(missed.headers.get('ratelimit-policy')).toBe('"lookup";q=3;w=3600');
      expect(missed.headers.get('ratelimit')).toMatch(new RegExp(`^"lookup";r=${left};t=\\d+$`));
    }
    for (const email of [anEmail(), outsider.email, admin.email]) {
      const refused = await add(org, owner, email);
      expect(refused).toMatchObject(rateLimited);
      expect(refused.headers.get('ratelimit')).toMatch(/^"lookup";r=0;t=\d+$/);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500);
    }
    expect(await add(await anOrgOf(owner), owner, outsider.email)).toMatchObject(rateLimited);
    expect((await add(org, admin, outsider.email)).status).toBe(201);
  });

  it('does not count additions with other answers', async () => {
    const { org, owner, admin, outsider } = await anOrg(service);
    for (const _ of times(2 * LOOKUPS, () => 0)) {
      expect(await add(org, owner, admin.email)).toMatchObject(alreadyMember);
      expect(await add(org, owner, 'nobody')).toMatchObject(invalidFields('email'));
    }
    const added = await add(org, owner, outsider.email);
    expect(added.status).toBe(201);
    expect(added.headers.get('ratelimit')).toMatch(/^"lookup";r=3;t=3600$/);
  });

  it('is checked after the role and the body', async () => {
    const { org, owner, member, outsider } = await anOrg(service);
    for (const _ of times(LOOKUPS, () => 0)) await add(org, owner);
    expect(await add(org, owner)).toMatchObject(rateLimited);
    expect(await add(org, owner, 'nobody')).toMatchObject(invalidFields('email'));
    expect(await add({ ...org, id: owner.id }, owner)).toMatchObject(orgNotFound);
    expect(await add(await anOrgOf(outsider), owner)).toMatchObject(notAMember);
    for (const _ of times(2, () => 0))
      expect(await add(org, member)).toMatchObject(insufficientRole('admin', 'member'));
    expect(await service.anyone.post(`/api/orgs/${org.id}/members`, {})).toMatchObject(unauthorized);
  });

  it('admits exactly the limit of simultaneous requests', async () => {
    const { org, owner } = await anOrg(service);
    const answers = await Promise.all(times(20, () => add(org, owner)));
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(LOOKUPS);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - LOOKUPS);
  });
});

describe('the limit of the changes of a user', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({
      env: { RATE_LIMIT_WRITES: `${LIMIT}/1h`, RATE_LIMIT_LOOKUP: '2/1h', RATE_LIMIT_LOGIN: 'off' },
    });
  });
  afterAll(() => service.stop());

  const spend = async (user: Account, count = LIMIT): Promise<void> => {
    for (const _ of times(count, () => 0))
      expect(await user.post(`/api/orgs/${anUnknownId()}/leave`)).toMatchObject(orgNotFound);
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
    const ofLogins = [
      'completeLogin',
      'finishProviderLogin',
      'login',
      'refresh',
      'register',
      'requestPasswordReset',
      'resetPassword',
      'startProviderLogin',
    ];
    const forOthers = [
      'exchangeCode',
      'introspectToken',
      'issueServiceToken',
      'revokeFoundApiKey',
      ...ofLogins,
    ];
    expect(open.toSorted()).toEqual(forOthers.toSorted());
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
    const detail = 'You have made too many changes; wait before the next one.';
    expect(refused.body).toMatchObject({ detail });
    expect(left(refused)).toBe('"writes";r=0');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
    expect((await user.get('/api/me')).body).toMatchObject({ orgs: [{ name: 'Another name' }] });
  });

  it('counts what is refused, what is only tried, and what is repeated', async () => {
    const [user, stranger] = [await anAccount(service), await anAccount(service)];
    const foreign = await anOrgOf(stranger);
    const once = user.with({ 'idempotency-key': 'once' });
    const created = await once.post<{ org: { id: string } }>('/api/orgs', { name: 'Once' });
    expect((await once.post('/api/orgs', { name: 'Once' })).headers.get('idempotency-replayed')).toBe('true');
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
    expect(await service1.delete('/api/me/sessions')).toMatchObject(directSessionRequired);
    await spend(user, 1);
    for (const session of [user, service1])
      expect(await session.post('/api/orgs', { name: 'One more' })).toMatchObject(rateLimited);
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
    const answers = [await add(org, user), await add(org, user), await add(org, user)];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 429]);
    expect(answers.map(left)).toEqual([
      `"writes";r=${LIMIT - 2}, "lookup";r=1`,
      `"writes";r=${LIMIT - 3}, "lookup";r=0`,
      `"writes";r=${LIMIT - 4}, "lookup";r=0`,
    ]);
    expect(answers[2]!.body).toMatchObject({ detail: expect.stringMatching(/belong to no user/) });
    // A change that its own limit gives back stays counted here.
    const known = await add(org, user, user.email);
    expect(left(known)).toBe(`"writes";r=${LIMIT - 5}, "lookup";r=0`);
  });
});
