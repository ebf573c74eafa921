import { once } from 'node:events';
import type { Server } from 'node:http';
import { join as joinPath } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Address } from '../../client/src/guard/listen.ts';
import { Metrics } from '../../client/src/guard/metrics.ts';
import type { Sidecar } from '../../client/src/guard/routes.ts';
import { serverOf } from '../../client/src/guard/server.ts';
import {
  admissionOf,
  memberCheck,
  type RouteCheck,
  type RouteRequest,
  serviceCheck,
  serviceOf,
  userCheck,
} from '../../client/src/service/route-checks.ts';
import { createGuard, createPkce, type Guard, type Refusal } from '../../client/src/service/index.ts';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { insertApiKey } from '../support/api-keys.js';
import { anAccount, anOrg, anOrgOf } from '../support/personas.js';
import { startService } from '../support/service.js';
import { aBoundToken, aCallToken, aServiceCaller, setCall } from '../support/services.js';
import { Door } from './support/door.js';
import { type RawAnswer, RawConnection } from './support/raw-http.js';

const service = await startService();
const door = await Door.open(service.url);
const [billing, orders, ledger] = await Promise.all(
  [1, 2, 3].map(() => aServiceCaller(service, 'introspect', 'memberships', 'events', 'keys')),
);
await setCall(service.db, orders!, billing!);
await setCall(service.db, billing!, ledger!);
const { org, owner, admin, member, outsider } = await anOrg(service);
const otherOrg = await anOrgOf(outsider);
const boundToken = await aBoundToken(billing!, admin);
const handedOnToken = await aCallToken(orders!, billing!, await aBoundToken(orders!, admin));
const keys = {
  ofMember: await insertApiKey(service, admin, billing!),
  ofAdmin: await insertApiKey(service, admin, billing!, { role: 'owner' }),
  ofOrg: await insertApiKey(service, admin, billing!, { role: 'admin', orgId: org.id }),
  ofOthers: await insertApiKey(service, admin, ledger!),
};
const handedOnKey = await aCallToken(orders!, billing!, (await insertApiKey(service, admin, orders!)).key);
const serviceToken = await aCallToken(orders!, billing!);

function aGuard(): Guard {
  const { name, secret } = billing!;
  const credentials = { name, secret };
  const audience = ['accounts', name];
  return createGuard({
    issuer: 'accounts',
    audience,
    baseUrl: door.url,
    credentials,
    log: { warn: () => undefined },
  });
}

const [guard, library] = [aGuard(), aGuard()];
await Promise.all([guard.ready(), library.ready()]);
const warned: string[] = [];
const sidecar: Sidecar = {
  guard,
  metrics: new Metrics(),
  log: { warnOnce: (_, msg) => void warned.push(msg) },
  isStopping: false,
  reason: 'the event feed is silent',
};
const port: Address = { host: '127.0.0.1', port: await freePort() };
const socket: Address = { path: joinPath(temporaryDirectory('guard-server'), 'guard.sock') };
const servers: Server[] = [];
for (const address of [port, socket]) {
  const server = serverOf(sidecar);
  await once(server.listen(address), 'listening');
  servers.push(server);
}
afterEach(() => {
  warned.length = 0;
  door.release('/api/memberships');
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await Promise.all([guard.close(), library.close()]);
  await door.close();
});

const ALWAYS = ['user', 'session', 'amr', 'org', 'role', 'via', 'key', 'service'].map(
  (name) => `x-accounts-${name}`,
);
const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

function textOf(method: string, target: string, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries({ Host: 'guard', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

async function ask(text: string, address: Address = port): Promise<RawAnswer> {
  const connection = await RawConnection.open(address);
  connection.send(text);
  const answer = await connection.next(text.startsWith('HEAD'));
  connection.close();
  if (!answer) throw new Error(`no answer to ${text.slice(0, 200)}`);
  return answer;
}

const get = (target: string, headers: Record<string, string> = {}, address?: Address): Promise<RawAnswer> =>
  ask(textOf('GET', target, headers), address);

function post(target: string, body: unknown, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  const all = { 'Content-Type': 'application/json', 'Content-Length': length, ...headers };
  return ask(textOf('POST', target, all, text));
}

const codeOf = ({ status, body }: RawAnswer): string =>
  status === 200 ? '200' : `${status} ${(JSON.parse(body) as { code: string }).code}`;

describe('a check answers as the library does', () => {
  const inOrg = (more: object = {}): RouteCheck => memberCheck({ orgId: () => org.id, ...more });
  const CHECKS: [string, RouteCheck][] = [
    ['/check', userCheck({})],
    ['/check/-/orgs/x', userCheck({})],
    ['/check?maxAge=3600&amr=pwd', userCheck({ maxAge: 3600, amr: ['pwd'] })],
    ['/check?maxAge=0', userCheck({ maxAge: 0 })],
    ['/check?amr=pwd,otp', userCheck({ amr: ['pwd', 'otp'] })],
    ['/check?via=', userCheck({ via: [] })],
    [`/check?via=${orders!.name}`, userCheck({ via: [orders!.name] })],
    [`/check?org=${org.id}`, inOrg()],
    [`/check?org=${org.id}&role=admin`, inOrg({ role: 'admin' })],
    [`/check?org=${org.id}&role=owner&maxAge=0`, inOrg({ role: 'owner', maxAge: 0 })],
    [`/check/orgAt=2&role=admin/orgs/${org.id}/invoices?page=3`, inOrg({ role: 'admin' })],
    [`/check?org=${otherOrg.id}`, memberCheck({ orgId: () => otherOrg.id })],
    [`/check?org=${org.id}%23&role=admin`, memberCheck({ orgId: () => `${org.id}#`, role: 'admin' })],
    ['/check?org=', memberCheck({ orgId: () => '' })],
    ['/check?org=none', memberCheck({ orgId: () => 'none' })],
    [`/check/orgAt=2/orgs/${org.id}/../x`, memberCheck({ orgId: () => '' })],
    ['/check-keys', userCheck({ keys: true })],
    ['/check-keys/-/orgs/x', userCheck({ keys: true })],
    ['/check-keys?maxAge=3600', userCheck({ keys: true, maxAge: 3600 })],
    ['/check-keys?amr=pwd', userCheck({ keys: true, amr: ['pwd'] })],
    ['/check-keys?via=', userCheck({ keys: true, via: [] })],
    [`/check-keys?org=${org.id}`, inOrg({ keys: true })],
    [`/check-keys?org=${org.id}&role=admin`, inOrg({ keys: true, role: 'admin' })],
    [`/check-keys/orgAt=2/orgs/${otherOrg.id}`, memberCheck({ orgId: () => otherOrg.id, keys: true })],
    [`/check-service?from=${orders!.name}`, serviceCheck(orders!.name)],
    [`/check-service?from=${ledger!.name}`, serviceCheck(ledger!.name)],
  ];
  const CALLERS: [string, string | undefined][] = [
    ['an owner', `Bearer ${owner.token}`],
    ['an admin', `Bearer ${admin.token}`],
    ['a member', `Bearer ${member.token}`],
    ['an outsider', `Bearer ${outsider.token}`],
    ['a handed-off login', `bearer ${boundToken}`],
    ['another service for an admin', `Bearer ${handedOnToken}`],
    ['a service for itself', `Bearer ${serviceToken}`],
    ['an API key with the role of a member', `Bearer ${keys.ofMember.key}`],
    ['an API key with a role above the user', `Bearer ${keys.ofAdmin.key}`],
    ['an API key of the organization', `Bearer ${keys.ofOrg.key}`],
    ['an API key for another service', `Bearer ${keys.ofOthers.key}`],
    ['an API key with a wrong checksum', `Bearer ${keys.ofAdmin.key.replace(/.$/, '~')}`],
    ['another service for an API key', `Bearer ${handedOnKey}`],
    ['no header', undefined],
    ['another scheme', 'Basic YTpi'],
    ['garbage', 'Bearer x.y.z'],
    ['two tokens', `Bearer ${owner.token}, Bearer ${owner.token}`],
  ];

  it.each(CALLERS)('for %s', async (_, authorization) => {
    const headers = authorization === undefined ? undefined : { Authorization: authorization };
    for (const [target, ofLibrary] of CHECKS) {
      const request: RouteRequest = { headers: { authorization } };
      const refusal = await ofLibrary(library, request);
      const expected = refusal ? refused(refusal) : admitted(request);
      for (const address of [port, socket]) {
        const answer = await get(target, headers, address);
        const body = JSON.parse(answer.body) as object;
        expect({ ...answer, body }, target).toMatchObject(expected);
      }
    }
  });

  function refused({ status, headers, problem }: Refusal): object {
    const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const again = { 'x-accounts-problem': JSON.stringify(problem) };
    return { status, headers: { ...Object.fromEntries(sent), ...again }, body: problem };
  }

  function admitted(request: RouteRequest): object {
    const none = Object.fromEntries(ALWAYS.map((name) => [name, expect.any(String) as string]));
    const headers = { ...none, 'cache-control': 'no-store', 'content-type': 'application/json' };
    const isService = request.headers.authorization === `Bearer ${serviceToken}`;
    if (isService) return { status: 200, headers, body: { service: serviceOf(request) } };
    const { user, session, key, via } = admissionOf(request, { keys: true });
    const login = { 'x-accounts-session': session?.id ?? '', 'x-accounts-amr': session?.amr.join() ?? '' };
    const named = { 'x-accounts-user': user.id, ...login, 'x-accounts-key': key?.id ?? '' };
    const all = { ...headers, ...named, 'x-accounts-service': '', 'x-accounts-via': via.join() };
    return { status: 200, headers: all, body: key ? { user, key } : { user, session } };
  }

  it('names organization and role only if it was asked about one', async () => {
    const inAny = await get('/check', bearer(admin.token));
    expect([inAny.headers['x-accounts-org'], inAny.headers['x-accounts-role']]).toEqual(['', '']);
    expect(Object.keys(JSON.parse(inAny.body) as object)).toEqual(['user', 'session']);
    const inOne = await get(`/check?org=${org.id}`, bearer(admin.token));
    expect(inOne.headers).toMatchObject({ 'x-accounts-org': org.id, 'x-accounts-role': 'admin' });
    expect(JSON.parse(inOne.body)).toMatchObject({ org: org.id, role: 'admin' });
  });

  it('names the service that calls for itself, and nothing else', async () => {
    const answer = await get(`/check-service?from=${orders!.name}`, bearer(serviceToken));
    expect(JSON.parse(answer.body)).toEqual({ service: { name: orders!.name } });
    const values = ALWAYS.map((name) => answer.headers[name]);
    expect(values).toEqual(['', '', '', '', '', '', '', orders!.name]);
  });

  it('names the API key instead of a session, and refuses it once it is revoked', async () => {
    const asked = { name: 'export', audience: billing!.name, role: 'owner' };
    const made = await admin.post<{ apiKey: { id: string }; key: string }>('/api/me/keys', asked);
    const { apiKey, key } = made.body;
    service.installation.secrets.note(key);
    const target = `/check-keys?org=${org.id}`;
    const answer = await get(target, bearer(key));
    expect(JSON.parse(answer.body)).toEqual({
      user: { id: admin.id, email: admin.email, emailVerified: false },
      key: { id: apiKey.id, role: 'owner', orgId: null },
      org: org.id,
      role: 'admin',
    });
    const values = ALWAYS.map((name) => answer.headers[name]);
    expect(values).toEqual([admin.id, '', '', org.id, 'admin', '', apiKey.id, '']);
    expect(codeOf(await get(`/check?org=${org.id}`, bearer(key)))).toBe('403 caller_not_allowed');
    await admin.delete(`/api/me/keys/${apiKey.id}`);
    await waitFor('the end of the key', hangTimeoutMs(), async () => {
      return codeOf(await get(target, bearer(key))) === '401 invalid_token';
    });
    expect(codeOf(await get(`/check?org=${org.id}`, bearer(key)))).toBe('403 caller_not_allowed');
  });

  it('finds the organization in X-Forwarded-Uri, and in no other header', async () => {
    const uri = `/orgs/${org.id}/invoices?x=1`;
    const [target, headers] = ['/check?orgAt=2&role=admin', bearer(admin.token)];
    expect(codeOf(await get(target, { ...headers, 'X-Forwarded-Uri': uri }))).toBe('200');
    for (const name of ['X-Original-Uri', 'X-Original-Url', 'X-Forwarded-Path'])
      expect(codeOf(await get(target, { ...headers, [name]: uri }))).toBe('500 invalid_check');
    const second = { 'x-forwarded-uri': `/orgs/${otherOrg.id}` };
    const twice = await get(target, { ...headers, 'X-Forwarded-Uri': uri, ...second });
    expect(codeOf(twice)).toBe('500 invalid_check');
  });

  it('waits for the revision that the client has seen', async () => {
    const joined = await anAccount(service);
    expect(codeOf(await get(`/check?org=${org.id}`, bearer(joined.token)))).toBe('403 not_a_member');
    const added = await owner.post(`/api/orgs/${org.id}/members`, { email: joined.email, role: 'member' });
    const headers = {
      ...bearer(joined.token),
      'Accounts-Revision': `${org.id}=${added.headers.get('etag')}`,
    };
    expect(codeOf(await get(`/check?org=${org.id}`, headers))).toBe('200');
  });

  it.each(['garbage', 'x'.repeat(10_000), `${otherOrg.id}=999`, `${org.id}=`])(
    'decides without the revision %j',
    async (revision) => {
      const headers = { ...bearer(admin.token), 'Accounts-Revision': revision };
      expect(codeOf(await get(`/check?org=${org.id}`, headers))).toBe('200');
    },
  );

  it('refuses a removed member', async () => {
    const headers = bearer(member.token);
    expect(codeOf(await get(`/check?org=${org.id}`, headers))).toBe('200');
    await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
    await waitFor('the removal', hangTimeoutMs(), async () => {
      return codeOf(await get(`/check?org=${org.id}`, headers)) === '403 not_a_member';
    });
  });

  it('ends the wait of a client that has left', async () => {
    const { token } = await anAccount(service);
    door.hold('/api/memberships');
    const connection = await RawConnection.open(port);
    connection.send(textOf('GET', `/check?org=${org.id}`, bearer(token)));
    await waitFor('the question', hangTimeoutMs(), () => door.holds('/api/memberships') > 0);
    expect(sidecar.metrics.waitingChecks).toBe(1);
    connection.close();
    await waitFor('its end', hangTimeoutMs(), () => sidecar.metrics.waitingChecks === 0);
    // The guard still asks, and only this wait has ended.
    expect(door.isWaiting('/api/memberships')).toBe(true);
  });
});

describe('bad input', () => {
  const good = textOf('GET', '/check', bearer(admin.token));
  const authorization = `Authorization: Bearer ${admin.token}\r\n`;
  const raw = (line: string, headers = ''): string =>
    `${line} HTTP/1.1\r\nHost: guard\r\n${authorization}${headers}\r\n`;
  const long = 'x'.repeat(9 * 1024);

  it.each<[string, string, string]>([
    ...[
      'Role=admin',
      `org=${org.id}&role=Owner`,
      `org=${org.id}&role=`,
      'maxAge=-1',
      'maxAge=1e9x',
      'amr=sms',
      `org=${org.id}&org=${org.id}`,
      `org=${org.id}&orgAt=2`,
      'role=admin',
      'orgAt=0',
      'orgAt=x',
      'token=x',
      'org=%',
      `org=${org.id}#&role=admin`,
      `org=${long}`,
    ].map((query): [string, string, string] => [
      query.slice(0, 60),
      raw(`GET /check?${query}`),
      '500 invalid_check',
    ]),
    ...['/', '//orgs', '/orgs/x', '/Role=admin', '/..', '/%2e%2e', '/%2f', '/\\'].map(
      (path): [string, string, string] => [`the path ${path}`, raw(`GET /check${path}`), '500 invalid_check'],
    ),
    ...[`//${org.id}`, '/%2e%2e/x', '/%2fx', '/..', '/\\x', `/${org.id}/./x`].map(
      (path): [string, string, string] => [
        `no organization in ${path}`,
        raw(`GET /check/orgAt=1${path}`),
        '403 not_a_member',
      ],
    ),
    ['a NUL', raw('GET /check?org=\0'), '400 malformed_request'],
    ['a space', raw('GET /check?org= x'), '400 malformed_request'],
    ['an absolute URL', raw(`GET http://guard/check?org=${org.id}`), '404 not_found'],
    ['/Check', raw('GET /Check'), '404 not_found'],
    ['//check', raw('GET //check'), '404 not_found'],
    ['two tokens', raw('GET /check', authorization), '401 unauthorized'],
    ['a token, and another scheme', raw('GET /check', 'authorization: Basic YTpi\r\n'), '401 unauthorized'],
    ['a header of 16 KiB', raw('GET /check', `X: ${'x'.repeat(16 * 1024)}\r\n`), '431 headers_too_large'],
    [
      'a second token after 2,100 headers',
      raw('GET /check', `${'a:\r\n'.repeat(2_100)}${authorization}`),
      '401 unauthorized',
    ],
    ['HEAD', raw('HEAD /check'), '200'],
    ['OPTIONS', raw('OPTIONS /check'), '200'],
    ['a preflight without a token', textOf('OPTIONS', '/check', { Origin: 'https://x' }), '401 unauthorized'],
    ['CONNECT', raw('CONNECT guard:1'), '405 method_not_allowed'],
    ['DELETE', raw('DELETE /check'), '200'],
    ['a WebSocket', raw('GET /check', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'), '200'],
    ['Expect', raw('POST /check', 'Content-Length: 9\r\nExpect: 100-continue\r\n'), '200'],
    ['another expectation', raw('GET /check', 'Expect: nothing\r\n'), '200'],
    ['a body of 1 MB', `${raw('POST /check', 'Content-Length: 1000000\r\n')}${'x'.repeat(1_000_000)}`, '200'],
    [
      'a chunked body without an end',
      `${raw('POST /check', 'Transfer-Encoding: chunked\r\n')}5\r\nhello\r\n`,
      '200',
    ],
    ['no HTTP', 'hello\r\n\r\n', '400 malformed_request'],
    ['a wrong method', raw('GET /exchange'), '405 method_not_allowed'],
    ['/role without an id', raw('GET /role?user=x'), '400 validation_failed'],
    ['/role with two', raw('GET /role?user=x&org=y&org=z'), '400 validation_failed'],
    ['/role with more', raw('GET /role?user=x&org=y&role=z'), '400 validation_failed'],
  ])('%s gets its answer, and the next request its own', async (what, text, expected) => {
    for (const address of [port, socket]) {
      const connection = await RawConnection.open(address);
      connection.send(text);
      const answer = await connection.next(text.startsWith('HEAD'));
      expect(answer && codeOf(answer), what).toBe(expected);
      expect(answer!.headers['cache-control']).toBe('no-store');
      const isClosed = answer!.headers['connection'] === 'close';
      if (isClosed) await connection.closed();
      else connection.send(good);
      const next = isClosed ? await ask(good, address) : await connection.next();
      expect(next && codeOf(next)).toBe('200');
      connection.close();
    }
    const logged = warned.join('\n');
    expect(logged).not.toContain(admin.token);
    expect(logged.includes('invalid_check')).toBe(expected === '500 invalid_check');
  });

  it('reads no body of a check, and closes its connection', async () => {
    for (const more of ['Content-Length: 9\r\n', 'Transfer-Encoding: chunked\r\n']) {
      const { headers } = await ask(raw('POST /check', more));
      expect(headers['connection']).toBe('close');
    }
    const { headers } = await ask(raw('POST /check', 'Content-Length: 0\r\n'));
    expect(headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=75' });
  });

  it('warns of a name that could be a token without the name', async () => {
    await get(`/check?${admin.token}`);
    expect(warned).toEqual(['a check means nothing (invalid_check): unknown parameter (not shown)']);
  });

  it('answers and closes connections that send half a header', async () => {
    const [server] = servers as [Server];
    expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 10_000, timeout: 20_000 });
    server.headersTimeout = 500;
    const connection = await RawConnection.open(port);
    connection.send('GET /check HTTP/1.1\r\nHost: gu');
    const answer = await connection.next();
    expect(answer && codeOf(answer)).toBe('408 timed_out');
    await connection.closed();
  });
});

describe('the other routes', () => {
  it('exchanges a code for the user, the session and the token', async () => {
    const pkce = await createPkce();
    const challenge = { ...pkce.challenge, audience: billing!.name };
    const { body } = await admin.post<{ code: string }>('/api/auth/code', challenge);
    const answer = await post('/exchange', { code: body.code, codeVerifier: pkce.codeVerifier });
    expect(answer.status, answer.body).toBe(200);
    const { token, user, session, ...more } = JSON.parse(answer.body) as Record<string, unknown>;
    service.installation.secrets.noteToken(token as string);
    expect([user, session, more]).toMatchObject([{ id: admin.id }, { amr: ['pwd'] }, {}]);
    expect(codeOf(await get('/check', bearer(token as string)))).toBe('200');
    expect(codeOf(await post('/exchange', { code: body.code, codeVerifier: 'x' }))).toBe('400 invalid_code');
  });

  it.each<[string, unknown, string, Record<string, string>?]>([
    [
      'a form',
      'code=x',
      '415 unsupported_media_type',
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    ],
    ['a list', [], '400 validation_failed'],
    ['null', null, '400 validation_failed'],
    ['no JSON', '{', '400 validation_failed'],
    ['no verifier', { code: 'x' }, '400 validation_failed'],
    ['a verifier that is a number', { code: 'x', codeVerifier: 1 }, '400 validation_failed'],
    ['more', { code: 'x', codeVerifier: 'x', audience: 'x' }, '400 validation_failed'],
    ['5 KiB', { code: 'x'.repeat(5_120), codeVerifier: 'x' }, '413 body_too_large'],
    ['a wrong code', { code: 'x', codeVerifier: 'y' }, '400 invalid_code'],
  ])('refuses an exchange of %s', async (_, body, expected, headers) => {
    expect(codeOf(await post('/exchange', body, headers))).toBe(expected);
    expect(warned).toEqual([]);
  });

  it('asks for a body that the client holds back', async () => {
    const connection = await RawConnection.open(port);
    const body = JSON.stringify({ code: 'x', codeVerifier: 'y' });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
    connection.send(textOf('POST', '/exchange', { ...headers, Expect: '100-continue' }));
    expect((await connection.next())?.status).toBe(100);
    connection.send(body);
    expect(codeOf((await connection.next())!)).toBe('400 invalid_code');
    connection.close();
  });

  it('has tokens for calls, of the user with a token or an API key, and of the service without', async () => {
    const { name: audience } = ledger!;
    const ofUser = await post('/token', { audience }, bearer(boundToken));
    const ofKey = await post('/token', { audience }, bearer(keys.ofMember.key));
    const ofOrgKey = await post('/token', { audience, org: org.id }, bearer(keys.ofOrg.key));
    const own = await post('/own-token', { audience });
    for (const { status, body } of [ofUser, ofKey, ofOrgKey, own]) {
      expect(status, body).toBe(200);
      const { token, expiresAt } = JSON.parse(body) as { token: string; expiresAt: string };
      service.installation.secrets.noteToken(token);
      expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
    }
    const headers = bearer(boundToken);
    expect(codeOf(await post('/token', { audience }))).toBe('401 unauthorized');
    expect(codeOf(await post('/token', { audience }, { ...headers, authorization: 'Basic YTpi' }))).toBe(
      '401 unauthorized',
    );
    expect(codeOf(await post('/token', { audience }, bearer(serviceToken)))).toBe('403 caller_not_allowed');
    const elsewhere = (more: object): Promise<RawAnswer> =>
      post('/token', { audience, ...more }, bearer(keys.ofOrg.key));
    expect(codeOf(await elsewhere({}))).toBe('403 caller_not_allowed');
    expect(codeOf(await elsewhere({ org: otherOrg.id }))).toBe('403 not_a_member');
    expect(codeOf(await elsewhere({ org: '' }))).toBe('400 validation_failed');
    expect(codeOf(await elsewhere({ role: 'admin' }))).toBe('400 validation_failed');
    expect(codeOf(await post('/token', { audience: 'No name' }, headers))).toBe('400 validation_failed');
    expect(codeOf(await post('/token', { audience: 'unknown' }, headers))).toBe('503 unavailable');
    expect(codeOf(await post('/own-token', {}))).toBe('400 validation_failed');
  });

  it('has the role of any user', async () => {
    const role = (user: string): Promise<RawAnswer> => get(`/role?user=${user}&org=${org.id}`);
    expect((await role(admin.id)).body).toBe('{"role":"admin"}');
    expect((await role(outsider.id)).body).toBe('{"role":null}');
    expect((await role('none')).body).toBe('{"role":null}');
  });

  it('is alive, and ready while the guard can decide', async () => {
    expect((await get('/health/live')).status).toBe(200);
    expect((await get('/health/ready')).status).toBe(200);
    sidecar.isStopping = true;
    const { status, headers, body } = await get('/health/ready');
    sidecar.isStopping = false;
    expect(status).toBe(503);
    expect(headers['connection']).toBe('close');
    expect(JSON.parse(body)).toMatchObject({ reason: 'the process stops' });
  });

  it('names in Allow what a route takes', async () => {
    expect((await get('/exchange')).headers['allow']).toBe('POST');
    expect((await ask(textOf('PUT', '/role'))).headers['allow']).toBe('GET, HEAD');
  });
});
