import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
// @ts-expect-error its name here has no types
import express4 from 'express4';
import Fastify from 'fastify';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { memberOf, requireMember, requireService, requireUser, serviceOf } from '../src/express.ts';
import * as ofFastify from '../src/fastify.ts';
import { type ExchangeAdmission, type FeedEvent, revisionOf } from '../src/service/index.ts';
import { fakeGuard } from '../src/testing/index.ts';

const ORG = crypto.randomUUID();
const guard = fakeGuard();
const authorize = vi.spyOn(guard, 'authorize');
const ends: (() => unknown)[] = [];
afterAll(() => Promise.all(ends.map((end) => end())));

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function withExpress(make: typeof express): Promise<string> {
  const app = make();
  app.set('env', 'test');
  const show: RequestHandler = (request, response) => void response.json({ role: memberOf(request).role });
  app.get('/orgs/:orgId/invoices', requireMember(guard, { role: 'admin' }), show);
  app.get('/orgs/:org/bills', requireMember(guard), show);
  app.get(
    '/teams/:team',
    requireMember(guard, { orgId: ({ params }: express.Request) => String(params['team']) }),
    show,
  );
  app.get('/me', requireUser(guard, { amr: ['otp'] }), show);
  app.get('/entries', requireService(guard, ['billing', 'shop']), (request, response) => {
    response.json(serviceOf(request));
  });
  app.get('/direct/:orgId', requireMember(guard, { via: [] }), show);
  app.get('/keys/:orgId', requireMember(guard, { keys: true }), (request, response) => {
    const { role, key } = memberOf(request, { keys: true });
    response.json({ role, keyId: key?.id });
  });
  app.get('/forgotten/:orgId', requireMember(guard, { keys: true }), show);
  app.get('/unguarded', (request, response) => void response.json(serviceOf(request)));
  const answerAtOnce: RequestHandler = (_, response, next) => {
    next();
    response.json({ role: 'none' });
  };
  app.get('/late', answerAtOnce, requireUser(guard), show);
  return serve(app);
}

async function withFastify(): Promise<string> {
  const app = Fastify();
  const show = (request: object) => Promise.resolve({ role: ofFastify.memberOf(request).role });
  const member = ofFastify.requireMember(guard, { role: 'admin' });
  app.get('/orgs/:orgId/invoices', { preHandler: member }, show);
  app.get('/orgs/:org/bills', { preHandler: ofFastify.requireMember(guard) }, show);
  const orgId = ({ params }: ofFastify.RouteRequest) => (params as { team: string }).team;
  app.get('/teams/:team', { onRequest: ofFastify.requireMember(guard, { orgId }) }, show);
  app.get('/me', { preHandler: ofFastify.requireUser(guard, { amr: ['otp'] }) }, show);
  const calling = (request: object) => Promise.resolve(ofFastify.serviceOf(request));
  app.get('/entries', { preHandler: ofFastify.requireService(guard, ['billing', 'shop']) }, calling);
  app.get('/direct/:orgId', { preHandler: ofFastify.requireMember(guard, { via: [] }) }, show);
  const byKey = (request: object) => {
    const { role, key } = ofFastify.memberOf(request, { keys: true });
    return Promise.resolve({ role, keyId: key?.id });
  };
  const orByKey = ofFastify.requireMember(guard, { keys: true });
  app.get('/keys/:orgId', { preHandler: orByKey }, byKey);
  app.get('/forgotten/:orgId', { preHandler: orByKey }, show);
  app.get('/unguarded', calling);
  ends.push(() => app.close());
  return app.listen({ port: 0, host: '127.0.0.1' });
}

describe.each<[string, () => Promise<string>]>([
  ['Express 5', () => withExpress(express)],
  ['Express 4', () => withExpress(express4)],
  ['Fastify', withFastify],
])('the guard of routes in %s', (_framework, start) => {
  it('admits API keys where it says so, and a handler must say so, too', async () => {
    const url = await start();
    const user = guard.logIn();
    guard.setRole(user.userId, ORG, 'admin');
    const key = guard.makeKey({ user: { id: user.userId } });
    const get = (path: string, { authorization }: { authorization: string }) =>
      fetch(`${url}/${path}/${ORG}`, { headers: { authorization } });
    expect(await (await get('keys', user)).json()).toEqual({ role: 'admin' });
    expect(await (await get('keys', key)).json()).toEqual({ role: 'member', keyId: key.keyId });
    expect((await get('direct', key)).status).toBe(403);
    for (const caller of [user, key]) expect((await get('forgotten', caller)).status).toBe(500);
  });

  it('admits members with the role, and answers what the guard refuses with', async () => {
    const url = await start();
    const [admin, member] = [guard.logIn(), guard.logIn()];
    guard.setRole(admin.userId, ORG, 'admin');
    guard.setRole(member.userId, ORG, 'member');
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(url + path, { headers });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as object };
    };
    const invoices = `/orgs/${ORG}/invoices`;
    const [asAdmin, asMember] = [admin, member].map(({ authorization }) => ({ authorization }));

    expect(await get(invoices, asAdmin)).toMatchObject({ status: 200, body: { role: 'admin' } });
    expect(await get(`/teams/${ORG}`, asMember)).toMatchObject({ status: 200, body: { role: 'member' } });
    const refused = await get(invoices, asMember);
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'insufficient_role',
        requiredRole: 'admin',
        detail: 'This needs the role admin or a higher one.',
      },
    });
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    const unknown = await get(invoices);
    expect(unknown).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    expect(unknown.headers.get('www-authenticate')).toBe('Bearer');
    expect(await get('/me', asMember)).toMatchObject({
      status: 401,
      body: { code: 'insufficient_user_authentication', amr: ['otp'] },
    });

    await get(invoices, { ...asAdmin, 'accounts-revision': `${ORG}=7` });
    expect(authorize).toHaveBeenLastCalledWith(admin.authorization, {
      role: 'admin',
      orgId: ORG,
      atLeast: 7,
    });
    guard.setAvailable(false);
    const unavailable = await get(invoices, asAdmin);
    guard.setAvailable(true);
    expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('admits the services that it names, and users who came directly where it says so', async () => {
    const url = await start();
    const [direct, through] = [guard.logIn(), guard.logIn({ via: ['billing'] })];
    for (const { userId } of [direct, through]) guard.setRole(userId, ORG, 'member');
    const get = async (path: string, { authorization }: { authorization: string }) => {
      const answer = await fetch(url + path, { headers: { authorization } });
      const { code = '', name = '', role = '' } = (await answer.json()) as Record<string, string>;
      return `${answer.status} ${code}${name}${role}`;
    };
    const refused = '403 caller_not_allowed';
    expect(await get('/entries', guard.callAs('billing'))).toBe('200 billing');
    expect(await get('/entries', guard.callAs('audit'))).toBe(refused);
    expect(await get('/entries', direct)).toBe(refused);
    expect(await get('/entries', { authorization: 'Bearer x' })).toBe('401 invalid_token');
    expect(await get(`/direct/${ORG}`, direct)).toBe('200 member');
    expect(await get(`/direct/${ORG}`, through)).toBe(refused);
    expect(await get(`/direct/${ORG}`, guard.callAs('billing'))).toBe(refused);
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    expect((await fetch(`${url}/unguarded`)).status).toBe(500);
    vi.mocked(console.error).mockRestore();
  });

  it('answers 500, and goes on, for mistakes in the program', async () => {
    const url = await start();
    const { authorization } = guard.logIn({ amr: ['pwd', 'otp'] });
    const get = (path: string) => fetch(url + path, { headers: { authorization } });
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    for (const path of [`/orgs/${ORG}/bills`, '/me', `/orgs/${ORG}/bills`])
      expect((await get(path)).status).toBe(500);
    vi.mocked(console.error).mockRestore();
  });
});

it.each([
  ['Express 5', express],
  ['Express 4', express4 as typeof express],
])('a refusal in %s is not sent where a timeout has answered already', async (_framework, make) => {
  const url = await withExpress(make);
  expect(await (await fetch(`${url}/late`)).json()).toEqual({ role: 'none' });
  const { status } = await fetch(`${url}/orgs/${ORG}/invoices`);
  expect(status).toBe(401);
});

it.each<[string, object]>([
  ['requireMember does not take "roles"', { roles: 'admin' }],
  ['role must be one of member, admin, owner', { role: 'king' }],
  ['maxAge must be a number of seconds', { maxAge: '5m' }],
  ['via must be a list of names of services', { via: 'billing' }],
])('a route is not made: %s', (message, wrong) => {
  expect(() => requireMember(guard, wrong)).toThrow(new TypeError(message));
  expect(() => ofFastify.requireMember(guard, wrong)).toThrow(new TypeError(message));
});

it.each([[[]], ['Billing'], [undefined], [['billing', '']], [{ from: 'billing' }]])(
  'a route of services is not made for %j',
  (from) => {
    expect(() => requireService(guard, from as string)).toThrow(TypeError);
    expect(() => ofFastify.requireService(guard, from as string)).toThrow(TypeError);
  },
);

it.each<[string | string[] | undefined, number | undefined]>([
  [undefined, undefined],
  [`${ORG}=7`, 7],
  [`${ORG}="7"`, 7],
  [` ${ORG} = 7 , other=9`, 7],
  [`other=9,${ORG}=3,${ORG}=8`, 8],
  [[`${ORG}=3`, 'other=9'], 3],
  [`${ORG}=-7`, undefined],
  [`${ORG}="7`, undefined],
  [`${ORG}=7=8`, undefined],
  [`${ORG}=${'9'.repeat(400)}`, undefined],
  [ORG, undefined],
  [`x${ORG}=7`, undefined],
  ['=,=,,', undefined],
])('the header %s names the revision %s', (header, revision) => {
  expect(revisionOf(header, ORG)).toBe(revision);
});

describe('a fake guard', () => {
  it('lets users log in, out and hand a login off', async () => {
    const { authorization, userId } = guard.logIn({ email: 'ada@example.com' });
    expect(await guard.authorize(authorization)).toMatchObject({
      ok: true,
      user: { id: userId, email: 'ada@example.com', emailVerified: true },
      session: { amr: ['pwd'] },
    });
    const code = guard.issueCode({ id: userId });
    const login = await guard.exchange({ code, codeVerifier: 'v' });
    expect(login).toMatchObject({ ok: true, user: { id: userId } });
    expect(await guard.exchange({ code, codeVerifier: 'v' })).toMatchObject({ status: 400 });
    const input = { code: guard.issueCode({ id: userId }), codeVerifier: 'v' };
    const [first, second] = [
      await guard.exchange(input, { idempotencyKey: 'k' }),
      await guard.exchange(input, { idempotencyKey: 'k' }),
    ];
    expect(second).toEqual(first);
    expect(await guard.exchange(input, { idempotencyKey: 'another' })).toMatchObject({ status: 400 });
    if (first.ok) await guard.logOut(`Bearer ${first.token}`);
    expect(await guard.exchange(input, { idempotencyKey: 'k' })).toMatchObject({ status: 400 });
    const misspelled = { signal: undefined, idempotencykey: 'k' };
    await expect(guard.exchange(input, misspelled)).rejects.toThrow(TypeError);
    expect(await guard.logOut(authorization)).toEqual({ ok: true });
    expect(await guard.authorize(authorization)).toMatchObject({ status: 401 });
    expect(await guard.logOut(authorization)).toMatchObject({
      status: 401,
      problem: { code: 'invalid_token' },
    });
    expect(await guard.logOut(undefined)).toMatchObject({ status: 401, problem: { code: 'unauthorized' } });
    const { token } = login as ExchangeAdmission;
    expect(await guard.authorize(`Bearer ${token}`)).toMatchObject({ ok: true });
  });

  it('has roles, checks options, and can be unavailable', async () => {
    const { authorization, userId } = guard.logIn({ authTime: 0 });
    guard.setRole(userId, ORG, 'owner');
    expect(await guard.roleOf(userId, ORG)).toEqual({ ok: true, role: 'owner' });
    expect(await guard.authorize(authorization, { orgId: ORG, maxAge: 60 })).toMatchObject({
      problem: { code: 'insufficient_user_authentication', maxAge: 60 },
    });
    guard.setRole(userId, ORG);
    expect(await guard.authorize(authorization, { orgId: ORG })).toMatchObject({ status: 403 });
    await expect(guard.authorize(authorization, { orgID: ORG } as object)).rejects.toThrow(TypeError);
    guard.setAvailable(false);
    expect([guard.isCurrent(), await guard.authorize(authorization)]).toMatchObject([false, { status: 503 }]);
    expect(await guard.logOut(authorization)).toMatchObject({ status: 503 });
    guard.setAvailable(true);
  });

  it('has services that call, and tokens with which to call them', async () => {
    const [user, billing] = [guard.logIn({ via: ['shop', 'billing'] }), guard.callAs('billing')];
    const admission = await guard.authorize(user.authorization, { via: ['billing'] });
    expect(admission).toMatchObject({ ok: true, via: ['shop', 'billing'] });
    expect(await guard.authorize(user.authorization, { via: ['shop'] })).toMatchObject({ status: 403 });
    expect(await guard.authorize(billing.authorization)).toMatchObject({
      problem: { code: 'caller_not_allowed' },
    });
    expect(await guard.authorizeService(billing.authorization, { from: ['billing'] })).toMatchObject({
      ok: true,
      service: { name: 'billing' },
      claims: { sub: 'service:billing' },
    });
    expect(await guard.authorizeService(undefined, { from: ['billing'] })).toMatchObject({ status: 401 });
    for (const { authorization } of [user, billing])
      expect(await guard.logOut(authorization)).toMatchObject({ status: 403 });

    const direct = guard.logIn();
    const admitted = await guard.authorize(direct.authorization);
    if (!admitted.ok) throw new Error('refused');
    const answers = [await guard.tokenFor('ledger', admitted), await guard.ownTokenFor('ledger')];
    expect(answers).toMatchObject([{ ok: true }, { ok: true }]);
    await expect(guard.tokenFor('ledger', { ...admitted })).rejects.toThrow(TypeError);
    guard.setAvailable(false);
    expect(await guard.tokenFor('ledger', admitted)).toMatchObject({ status: 503 });
    expect(await guard.ownTokenFor('ledger')).toMatchObject({ status: 503 });
    expect(await guard.authorizeService(billing.authorization, { from: ['billing'] })).toMatchObject({
      status: 503,
    });
    guard.setAvailable(true);
    await guard.logOut(direct.authorization);
    expect(await guard.tokenFor('ledger', admitted)).toMatchObject({ status: 401 });
  });

  it('calls the hooks of a service, and shows what they fail with', async () => {
    const onEvent = vi.fn<(event: FeedEvent) => Promise<void>>(() => Promise.resolve());
    const onReset = vi.fn<() => void>();
    const fake = fakeGuard({ onEvent, onReset });
    const { sessionId } = fake.logIn();
    await fake.emit({ type: 'session.ended', sessionId });
    await fake.reset();
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'session.ended', sessionId, orgId: null, data: {} }]]);
    expect(onReset).toHaveBeenCalledTimes(1);
    onEvent.mockRejectedValueOnce(new Error('mine'));
    await expect(fake.emit({ type: 'org.renamed', orgId: ORG })).rejects.toThrow('mine');
    await expect(fakeGuard().emit({ type: 'org.renamed' })).resolves.toBeUndefined();
    expect(() => fakeGuard({ onevent: onEvent } as object)).toThrow(TypeError);
  });

  it('tells logins at a provider from logins by password, by the real function', async () => {
    const fake = fakeGuard();
    const { authorization } = fake.logIn({ amr: ['fed', 'otp'] });
    const [byPassword, atProvider] = [{ amr: ['pwd' as const] }, { amr: ['fed' as const, 'otp' as const] }];
    expect(await fake.authorize(authorization, atProvider)).toMatchObject({ ok: true, session: atProvider });
    expect(await fake.authorize(authorization, byPassword)).toMatchObject({
      ok: false,
      problem: { code: 'insufficient_user_authentication', ...byPassword },
    });
  });
});
