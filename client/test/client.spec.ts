import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { GENERATED, generate } from '../scripts/generate.ts';
import { createAdminClient } from '../src/admin.ts';
import { createClient, memoryStore, pages, type TokenStore, unwrap } from '../src/index.ts';
import { createServiceClient } from '../src/service/index.ts';
import {
  aSignIn,
  failedWith,
  hangUp,
  json,
  OddServer,
  page,
  problem,
  silence,
} from './support/odd-server.ts';

const ONE_HOUR_MS = 3_600_000;
const [ORG, USER] = ['019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f'];

/** As programs without types see the client. */
type Any = Record<string, (...given: unknown[]) => Promise<unknown>>;

type Operation = { operationId: string; responses: object };

const server = await OddServer.start();
const client = createClient({ baseUrl: `${server.url}/behind/`, store: memoryStore() });
server.answer(json(200, aSignIn()));
await client.login({ email: 'ada@example.com', password: 'p' });
afterAll(() => server.stop());

it.each([
  ['answers nothing', silence, { code: 'timed_out', status: null }],
  ['closes the connection', hangUp, { code: 'unreachable', status: null }],
  [
    'is a proxy with a page of its own',
    page(502, '<html>Bad gateway', { 'Retry-After': '120' }),
    { code: 'not_json', status: 502, text: '<html>Bad gateway', retryAfter: 120 },
  ],
  ['is a portal that answers everything', page(200, '<html>Log in'), { code: 'not_json', status: 200 }],
  ['sends requests elsewhere', page(307, '', { Location: '/other' }), { code: 'not_json', status: 307 }],
  ['answers other JSON', json(200, { welcome: true }), { code: 'invalid_answer', status: 200 }],
  ['answers no object', json(200, null), { code: 'invalid_answer', status: 200 }],
  ['refuses in another way', json(400, { message: 'no' }), { code: 'invalid_answer', status: 400 }],
  ['answers half of it', page(200, '{'), { code: 'not_json' }],
  [
    'has a code of next year',
    problem(402, 'payment_required', { 'Retry-After': '7' }),
    { code: 'unknown_code', receivedCode: 'payment_required', status: 402, detail: 'D', retryAfter: 7 },
  ],
  ['has a code of another operation', problem(409, 'last_owner'), { receivedCode: 'last_owner' }],
  ['is busy', problem(429, 'rate_limited', { 'Retry-After': '9' }), { code: 'rate_limited', retryAfter: 9 }],
] as const)('names what a service did that %s', async (_, answer, expected) => {
  server.answer(answer);
  // A busy machine may need long for every response but silence.
  const timeoutMs = answer === silence ? 300 : 60_000;
  const result = await client.requestPasswordReset({ email: 'ada@example.com' }, { timeoutMs });
  expect(result).toMatchObject({ ok: false, problem: expected });
  expect(server.asked).toHaveLength(1);
});

it('sends each part of the input to its place', async () => {
  server.answer(json(200, { ok: true, purgeAt: '' }, { ETag: '"8"', 'Dry-Run': 'true' }));

  const result = await client.removeMember(
    { orgId: ORG, userId: USER, dryRun: true, remedy: undefined },
    { ifMatch: '"7"', idempotencyKey: 'k' },
  );

  expect(result).toMatchObject({ ok: true, etag: '"8"', dryRun: true, replayed: false });
  const path = `/behind/api/orgs/${ORG}/members/${USER}?dryRun=true`;
  const headers = { 'if-match': '"7"', 'idempotency-key': 'k' };
  expect(server.asked).toMatchObject([{ method: 'DELETE', path, headers, body: '' }]);
  server.answer(json(200, { user: {}, orgs: [] }));
  await client.getMe({ include: ['roles', 'account'] });
  expect(server.asked[0]!.path).toBe('/behind/api/me?include=roles%2Caccount');

  // Half of a character, as forms send it.
  server.answer(json(200, { users: [] }));
  await client.listMembers({ orgId: 'o', search: 'a\ud800' });
  expect(server.asked[0]!.path).toContain('search=a%EF%BF%BD');
});

it('sends nothing with an id that is no part of a path', async () => {
  server.answer(json(200, { ok: true }));
  for (const userId of ['..', '.', '', 'a\ud800']) {
    const result = await client.removeMember({ orgId: ORG, userId });
    expect(result).toMatchObject(failedWith('invalid_parameter', { parameter: 'userId' }));
  }
  expect(server.asked).toEqual([]);
});

it.each<[string, (anyClient: Any) => Promise<unknown>, string]>([
  ['a body', (any) => any['createOrg']!({ name: 'X', dryRun: true }), 'createOrg does not take "dryRun"'],
  ['a query', (any) => any['getMe']!({ inclued: ['roles'] }), 'getMe does not take "inclued"'],
  ['nothing', (any) => any['getLiveness']!({ dryRun: undefined }), 'getLiveness does not take "dryRun"'],
  [
    'a body of its own',
    (any) => any['transferOrg']!({ orgId: ORG, body: { userId: USER, leaf: true } }),
    'transferOrg does not take "body"',
  ],
  ['options', (any) => any['getMe']!({}, { timeout: 1 }), 'The options of getMe do not take "timeout"'],
  [
    'options of another operation',
    (any) => any['requestPasswordReset']!({ email: 'ada@example.com' }, { ifMatch: '"7"' }),
    'The options of requestPasswordReset do not take "ifMatch"',
  ],
  ['an id that is missing', (any) => any['getOrg']!({ orgId: undefined }), 'getOrg needs the string "orgId"'],
  [
    'an id that is left out',
    (any) => any['removeMember']!({ orgId: ORG }),
    'removeMember needs the string "userId"',
  ],
  ['an id of another type', (any) => any['getOrg']!({ orgId: null }), 'getOrg needs the string "orgId"'],
  ['a refresh', (any) => any['refresh']!({ signals: 1 }), 'The options of refresh do not take "signals"'],
  ['a logout', (any) => any['logOut']!({ refreshtoken: 'r' }), 'logOut does not take "refreshtoken"'],
])('sends nothing with input that an operation with %s does not take', async (_, call, message) => {
  server.answer(json(200, { ok: true }));
  await expect(call(client as unknown as Any)).rejects.toThrow(new TypeError(message));
  expect(server.asked).toEqual([]);
});

it('repeats a change of an organization with its key, after the time that the service names', async () => {
  server.answer(hangUp, problem(503, 'unavailable', { 'Retry-After': '0' }), json(201, { org: { id: ORG } }));
  expect(await client.createOrg({ name: 'Engines' })).toMatchObject({ ok: true, status: 201 });
  const keys = server.asked.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
});

it('repeats the exchange of a code with its key, which is new for each call', async () => {
  const service = createServiceClient({
    baseUrl: server.url,
    credentials: { name: 'billing', secret: 's' },
  });
  const input = { code: 'c', codeVerifier: 'v' };
  const exchanged = json(200, { token: 't' }, { 'Idempotency-Replayed': 'true' });
  server.answer(hangUp, page(502, '<html>'), exchanged);
  expect(await service.exchangeCode(input)).toMatchObject({ ok: true, replayed: true });
  await service.exchangeCode(input);
  await service.exchangeCode(input, { idempotencyKey: 'of several calls' });
  const keys = server.asked.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([keys[0], keys[0], keys[0], expect.any(String), 'of several calls']);
  expect(new Set(keys).size).toBe(3);
});

it('repeats nothing that could be done twice, and nothing before its time', async () => {
  server.answer(problem(503, 'unavailable', { 'Retry-After': '0' }));
  await client.requestEmailVerification();
  expect(server.asked).toHaveLength(1);

  server.answer(problem(503, 'unavailable', { 'Retry-After': '3600' }));
  expect(await client.getMe()).toMatchObject(failedWith('unavailable', { retryAfter: 3600 }));
  expect(server.asked).toHaveLength(1);

  server.answer(problem(503, 'unavailable', { 'Retry-After': '0' }));
  await client.getMe({}, { retries: 1 });
  expect(server.asked).toHaveLength(2);
});

it('ends a wait when the caller gives it up', async () => {
  const controller = new AbortController();
  server.answer(() => controller.abort());
  const waiting = client.getMe({}, { signal: controller.signal, timeoutMs: ONE_HOUR_MS });
  expect(await waiting).toMatchObject(failedWith('aborted'));
  expect(await client.getMe({}, { signal: controller.signal })).toMatchObject(failedWith('aborted'));
  expect(server.asked).toHaveLength(1);
});

it('discards a code that is not for the service alone', async () => {
  const code = { code: 'c', expiresAt: '' };
  server.answer(json(201, code), json(201, { ...code, audience: 'billing' }), json(201, code));
  expect(await client.issueCode({ audience: 'billing' })).toMatchObject(failedWith('audience_ignored'));
  expect(await client.issueCode({ audience: 'billing' })).toMatchObject({ data: { audience: 'billing' } });
  expect(await client.issueCode()).toMatchObject({ ok: true });
});

it('sends credentials of a service only where they belong, and names those that cannot be sent', async () => {
  const service = createServiceClient({
    baseUrl: server.url,
    credentials: { name: 'billing', secret: () => 'acs_x\n' },
  });
  server.answer(json(200, { active: false }), json(200, { keys: [] }));

  expect(await service.introspectToken({ token: 'a b' })).toMatchObject({ data: { active: false } });
  await service.getKeySet();
  expect(server.asked).toMatchObject([
    { headers: { authorization: `Basic ${btoa('billing:acs_x')}` }, body: 'token=a+b' },
    { headers: {} },
  ]);
  expect(server.asked[1]!.headers.authorization).toBeUndefined();

  const credentials = { name: 'billing', secret: 'acs_\u{1f511}' };
  const unsendable = createServiceClient({ baseUrl: server.url, credentials });
  expect(await unsendable.introspectToken({ token: 't' })).toMatchObject(failedWith('no_credentials'));
});

it('follows pages to the last', async () => {
  server.answer(
    json(200, { orgs: [1], nextCursor: 'c' }),
    json(200, { orgs: [2] }),
    problem(400, 'validation_failed'),
  );
  const seen: unknown[] = [];
  for await (const one of pages(client.listOrgs, { limit: 1 })) seen.push(one.ok && one.data.orgs);

  expect(seen).toEqual([[1], [2]]);
  expect(server.asked.map(({ path }) => path)).toEqual([
    '/behind/api/me/orgs?limit=1',
    '/behind/api/me/orgs?limit=1&cursor=c',
  ]);
});

it('has the types of the OpenAPI document; if not: npm run client:types makes them', () => {
  expect(readFileSync(GENERATED, 'utf8')).toBe(generate());
});

it('has no method for an operation that only browsers call', () => {
  const operation = (operationId: string, status: number) => ({ operationId, responses: { [status]: {} } });
  const paths = {
    '/browser': { get: operation('receive', 303) },
    '/program': { get: operation('send', 204) },
  };
  const text = generate(
    JSON.stringify({ paths, components: { schemas: {}, parameters: {}, responses: {} } }),
  );
  expect(text).toContain('send:');
  expect(text).not.toContain('receive');
});

it('has a method for every other operation, in the client of those who call it', () => {
  const document = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(document) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const ids = operations
    .filter(({ responses }) => !('303' in responses))
    .map(({ operationId }) => operationId);
  const admin = createAdminClient({ baseUrl: server.url, store: memoryStore() });
  const credentials = { name: 'billing', secret: 'acs_x' };
  const service = createServiceClient({ baseUrl: server.url, credentials });
  const [ofClients, ofOperators, ofServices] = [client, admin, service].map((one) => Object.keys(one));

  expect(ids.length).toBeGreaterThanOrEqual(80);
  expect([...ofClients!, ...ofOperators!, ...ofServices!]).toEqual(expect.arrayContaining(ids));
  expect(ofClients).not.toContain('exchangeCode');
  expect(ofClients!.filter((id) => id.startsWith('admin'))).toEqual([]);
  expect(ofOperators!.filter((id) => !id.startsWith('admin')).toSorted()).toEqual(
    ['completeLogin', 'isLoggedIn', 'logOut', 'login', 'refresh'].toSorted(),
  );
});

it('unwraps a result: its data, or an error with the problem', async () => {
  server.answer(json(200, { sessions: [] }), problem(404, 'session_not_found'));
  expect(unwrap(await client.listSessions())).toEqual({ sessions: [] });
  const refused = await client.revokeSession({ sessionId: 's' });
  expect(() => unwrap(refused)).toThrow(
    expect.objectContaining({
      cause: expect.objectContaining({ code: 'session_not_found' }) as unknown,
    }) as Error,
  );
});

const PLAIN_URL_WANTED = 'baseUrl must have no user, password, query or fragment';
const STORE_WANTED = 'store must have the functions load and save, as memoryStore() has';
const URL_WANTED = 'baseUrl must be the URL of Accounts, such as https://accounts.example.com';

it.each<[string, object]>([
  [URL_WANTED, { baseUrl: 'accounts' }],
  [URL_WANTED, { baseUrl: 'localhost:3000' }],
  [URL_WANTED, { baseUrl: 'ftp://accounts.example.com' }],
  [PLAIN_URL_WANTED, { baseUrl: 'https://ada:secret@accounts.example.com' }],
  [PLAIN_URL_WANTED, { baseUrl: 'https://accounts.example.com?token=secret' }],
  [PLAIN_URL_WANTED, { baseUrl: 'https://accounts.example.com/#secret' }],
  ['baseUrl must end before /api, which the client adds', { baseUrl: 'https://accounts.example.com/api' }],
  ['baseUrl must end before /api, which the client adds', { baseUrl: 'https://example.com/accounts/api/' }],
  ['createClient does not take "timeout"', { timeout: 5 }],
  [STORE_WANTED, { store: undefined }],
  [STORE_WANTED, { store: { load: () => undefined } }],
  ['store.lock must be a function, or left out', { store: { ...memoryStore(), lock: true } }],
  [
    'store.logOuts must have the functions load and save, as memoryStore().logOuts has',
    { store: { ...memoryStore(), logOuts: {} } },
  ],
  [
    'store.me must have the functions load and save, as memoryStore().me has',
    { store: { ...memoryStore(), me: null } },
  ],
  ['createClient does not take "credentials"', { credentials: { name: 'billing', secret: 's' } }],
])('throws an error that says: %s', (message, wrong) => {
  const options = { baseUrl: 'http://127.0.0.1', store: memoryStore(), ...wrong };
  expect(() => createClient(options)).toThrow(TypeError);
  expect(() => createClient(options)).toThrow(message);
});

it('throws an error for operators without a store', () => {
  const options = { baseUrl: 'http://127.0.0.1', store: undefined as unknown as TokenStore };
  expect(() => createAdminClient(options)).toThrow(new TypeError(STORE_WANTED));
});

it('puts a body whose fields have names of parameters into a member of its own', () => {
  const contentOf = (schema: object) => ({ content: { 'application/json': { schema } } });
  const post = {
    operationId: 'nameBoth',
    parameters: [{ name: 'userId', in: 'path', required: true, schema: { type: 'string' } }],
    requestBody: contentOf({ $ref: '#/components/schemas/Named' }),
    responses: { 200: contentOf({ type: 'object' }) },
  };
  const schemas = { Named: { type: 'object', properties: { userId: { type: 'string' } } } };
  const components = { schemas, parameters: {}, responses: {} };
  const made = generate(JSON.stringify({ paths: { '/orgs/{userId}': { post } }, components }));

  expect(made).toContain('} & { body: Named };');
  expect(made).toContain('"wrapped":true');
  expect(made).toContain('"fields":["userId"]');
});

it.each<[string, object]>([
  ['createServiceClient does not take "store"', { store: memoryStore() }],
  ['credentials do not take "key"', { credentials: { name: 'billing', secret: 's', key: 'k' } }],
  ['credentials.name must be a name', { credentials: { secret: 's' } }],
  ['credentials.secret must be a secret, or a', { credentials: { name: 'billing', secret: ' \n' } }],
])('throws an error for a service that says: %s', (message, wrong) => {
  const options = { baseUrl: 'http://127.0.0.1', credentials: { name: 'billing', secret: 's' }, ...wrong };
  expect(() => createServiceClient(options)).toThrow(TypeError);
  expect(() => createServiceClient(options)).toThrow(message);
});
