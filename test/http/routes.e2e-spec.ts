import { METHODS } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import {
  bodyTooLarge,
  invalidCredentials,
  invalidFields,
  malformedJson,
  methodNotAllowed,
  notFound,
  orgNotFound,
  unsupportedMediaType,
  uriTooLong,
} from '../support/expected.js';
import { addOrgs } from '../support/rows.js';
import {
  jsonRequest,
  keptAliveRequest,
  openConnection,
  requestBytes,
  sendBytes,
} from '../support/connections.js';
import { anAccount, anEmail, anOrgOf, aPassword } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { times } from '../support/at-once.js';

/** Together 10 MB, which is more than the system buffers. */
const UNREAD = 5;
const MANY_ORGS = 5000;
const LONG_NAME = '\u{1F600}'.repeat(90);

const METHODS_OF_PATHS = METHODS.filter((method) => method !== 'CONNECT');

const EXPOSED = [
  ...'Retry-After RateLimit RateLimit-Policy WWW-Authenticate Link ETag Dry-Run'.split(' '),
  'Idempotency-Replayed',
];
const REQUEST_HEADERS = ['authorization', 'x-request-id', 'traceparent', 'if-match', 'idempotency-key'];

const service = await startService();
const { paths } = (await service.anyone.get<{ paths: Record<string, object> }>('/openapi.json')).body;
const ROUTES = Object.entries(paths).map(
  ([path, methods]) =>
    [path.replaceAll(/\{\w+\}/g, 'x'), Object.keys(methods).map((method) => method.toUpperCase())] as const,
);
const ada = await anAccount(service, 'ada');
const org = await anOrgOf(ada);

describe('routes', () => {
  it.each(ROUTES)('%s allows %j and refuses every other method', async (path, methods) => {
    const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    const others = METHODS_OF_PATHS.filter((method) => !allowed.includes(method));
    expect(others.length).toBeGreaterThan(25);
    for (const method of others) {
      const answer = await sendBytes(service, requestBytes(`${method} ${path}`));
      expect(answer, method).toMatchObject(method === 'HEAD' ? { status: 405 } : methodNotAllowed);
      expect(answer?.headers.get('allow')?.split(', ').toSorted(), method).toEqual(allowed.toSorted());
    }
  });

  it('answers 405 with Allow, without reading the body', async () => {
    const answer = await service.anyone.send('PROPFIND', '/api/orgs/x/members/y', {
      headers: { 'content-type': 'application/xml' },
      body: '<propfind/>',
    });
    expect(answer).toMatchObject(methodNotAllowed);
    expect(answer.body).toMatchObject({ detail: 'Allowed methods: GET, HEAD, PATCH, DELETE' });
  });

  it('separates the body of a refused method from the next request', async () => {
    const { socket, statuses, closed } = await openConnection(service.url);
    const body = 'GET /health/live HTTP/1.1\r\n\r\n'.repeat(3000);
    socket.write(keptAliveRequest('PUT /api/me', [`Content-Length: ${body.length}`], body));
    socket.write(requestBytes('GET /health/live'));
    await closed;
    expect(statuses()).toEqual([405, 200]);
  });

  it('closes a connection after 1,000 requests', async () => {
    const { socket, statuses, closed, text } = await openConnection(service.url);
    for (let sent = 0; sent < 1000; sent += 20) {
      socket.write(keptAliveRequest('GET /health/live').repeat(sent === 980 ? 21 : 20));
      const arrived = () => expect(statuses()).toHaveLength(sent + 20);
      await vi.waitFor(arrived, { timeout: hangTimeoutMs(), interval: 5 });
    }
    await closed;
    expect(statuses()).toEqual(Array.from({ length: 1000 }, () => 200));
    expect(text().match(/connection: close/gi)).toHaveLength(1);
  });

  it('answers 20 requests that a client sends before it reads, and closes the connection', async () => {
    const { socket, statuses, closed } = await openConnection(service.url);
    socket.write(keptAliveRequest('GET /health/live').repeat(100));
    const text = await closed;
    expect(statuses()).toEqual([...Array.from({ length: 20 }, () => 200), 503]);
    expect(text).toContain('repeat the request on another');
  });

  it('begins no request that a client sends ahead while it leaves long answers unread', async () => {
    const [reader, creator] = [await anAccount(service), await anAccount(service)];
    await addOrgs(service.db, reader, MANY_ORGS, () => LONG_NAME);
    const [read, create] = [reader, creator].map(({ token }) => `Authorization: Bearer ${token}`) as [
      string,
      string,
    ];
    const { socket, statuses, closed } = await openConnection(service.url);
    socket.pause();
    socket.write(keptAliveRequest('GET /api/me', [read]).repeat(UNREAD));
    socket.write(jsonRequest('POST /api/orgs', { name: 'Sent ahead' }, [create, 'Connection: close']));
    for (let asked = 0; asked < 10; asked += 1)
      expect((await creator.get('/api/me')).body).toMatchObject({ orgs: [] });
    socket.resume();
    await closed;
    expect(statuses()).toEqual([...Array.from({ length: UNREAD }, () => 200), 201]);
    expect((await creator.get('/api/me')).body).toMatchObject({ orgs: [{ name: 'Sent ahead' }] });
  });

  it.each(METHODS_OF_PATHS)('%s answers 404 on an unknown path', async (method) => {
    const answer = await sendBytes(service, requestBytes(`${method} /api/nothing`));
    expect(answer).toMatchObject(method === 'HEAD' ? { status: 404 } : notFound);
  });

  it.each(['CONNECT', 'FOO', 'get'])('%s is no method of any path', async (method) => {
    const answer = await sendBytes(service, requestBytes(`${method} /api/me`));
    expect(answer).toMatchObject({ status: 400, body: { code: 'bad_request' } });
  });

  it('TRACE echoes nothing', async () => {
    const bytes = requestBytes('TRACE /api/me', [`Authorization: Bearer ${ada.token}`, 'Cookie: echo-me']);
    expect((await sendBytes(service, bytes))?.text).not.toMatch(/echo-me|Bearer/);
  });

  it('HEAD answers like GET, without the body', async () => {
    const anonymous = await service.anyone.send('HEAD', '/api/me');
    const signedIn = await ada.send('HEAD', '/api/me');
    expect([anonymous.status, anonymous.text]).toEqual([401, '']);
    expect([signedIn.status, signedIn.text]).toEqual([200, '']);
  });

  it.each(['GET', 'HEAD'])('%s / redirects to the documentation', async (method) => {
    const answer = await service.anyone.send(method, '/');
    expect(answer.status).toBe(302);
    const target = new URL(answer.headers.get('location') ?? '', service.url);
    expect((await fetch(target)).headers.get('content-type')).toMatch(/^text\/html/);
  });

  it.each('/api /api/ /api/nothing /api/auth /api/users /api/admin /metrics /.env /.git/config'.split(' '))(
    '%s is not found',
    async (path) => {
      expect(await service.anyone.get(path)).toMatchObject(notFound);
      expect(await ada.post(path, {})).toMatchObject(notFound);
    },
  );

  it('with an empty id is not found, and the connection continues', async () => {
    const { socket, statuses, closed } = await openConnection(service.url);
    const empty = '/api/orgs/ /api/orgs//members /api/orgs/x/members/ /api/operators/users//orgs'.split(' ');
    for (const path of empty) socket.write(keptAliveRequest(`GET ${path}`));
    socket.write(jsonRequest('POST /api/orgs//members', {}, []));
    socket.write(requestBytes('GET /health/live'));
    const text = await closed;
    expect(statuses()).toEqual([...[...empty, 'POST'].map(() => 404), 200]);
    expect(text.match(/"code":"not_found"/g)).toHaveLength(empty.length + 1);
  });

  it.each([
    '/api/%6de',
    '/%61pi/me',
    '//api/me',
    '/api//me',
    '/api/./me',
    '/api/x/../me',
    '/api/x/%2e%2e/me',
    '/api/%2e/me',
    '/api/me;x=1',
    '/api/me/',
    '/API/ME',
    '/api/me%00',
    '/api/me%20',
    '/api/me%2f',
    '/api\\me',
    '/api/auth/register/../../me',
    'http://localhost/api/me',
    'http://evil.example/api/me',
  ])('%s does not bypass the token', async (path) => {
    const answer = await sendBytes(service, requestBytes(`GET ${path}`));
    expect([400, 401, 404]).toContain(answer?.status);
  });

  it.each(['%', '%zz', '%c3%28', '%e0%80%80', '%ff', '%ed%a0%80'])(
    'the invalid escape %s gets a problem',
    async (escape) => {
      for (const path of [`/api/orgs/${escape}`, `/api/${escape}`, `/api/orgs/${org.id}/members/${escape}`]) {
        const answer = await sendBytes(
          service,
          requestBytes(`GET ${path}`, [`Authorization: Bearer ${ada.token}`]),
        );
        expect([400, 404, 405]).toContain(answer?.status);
        expect(answer?.text).not.toContain(escape.repeat(2));
      }
    },
  );

  it('a URL of 2,048 characters is read, a longer one refused', async () => {
    const ask = (start: string, length: number) =>
      sendBytes(service, requestBytes(start.padEnd(length, 'x'), [`Authorization: Bearer ${ada.token}`]));
    expect(await ask('GET /api/orgs/', 2048 + 4)).toMatchObject(orgNotFound);
    expect((await ask(`GET /api/orgs/${org.id}?x=`, 2048 + 4))?.status).toBe(200);
    for (const length of [2049, 8000, 15_000]) {
      expect(await ask('GET /api/orgs/', length + 4)).toMatchObject(uriTooLong);
      expect(await ask(`GET /api/orgs/${org.id}?x=`, length + 4)).toMatchObject(uriTooLong);
      expect(await ask('PUT /api/nothing', length + 4)).toMatchObject(uriTooLong);
    }
  });

  it.each(['?offset=1', '?page[]=x', '?__proto__[role]=owner', '?%', '?a=%zz', '?'])(
    'the query %s changes nothing',
    async (query) => {
      const plain = await ada.get(`/api/orgs/${org.id}/members`);
      const answer = await ada.get(`/api/orgs/${org.id}/members${query}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(plain.body);
    },
  );

  it.each(['x-http-method-override', 'x-method-override', 'x-original-url', 'x-rewrite-url'])(
    'the header %s changes nothing',
    async (header) => {
      for (const value of ['DELETE', '/health/live']) {
        expect((await service.anyone.with({ [header]: value }).get('/api/me')).status).toBe(401);
        expect((await service.anyone.with({ [header]: value }).post('/api/orgs', {})).status).toBe(401);
      }
    },
  );
});

describe('cross-origin requests', () => {
  let open: Service;
  beforeAll(async () => {
    open = await startService({ env: { CORS_ORIGINS: 'tauri://localhost, https://app.example.com' } });
  });
  afterAll(() => open.stop());

  const preflight = (to: Service, origin: string, method: string) =>
    to.anyone
      .with({
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
      })
      .send('OPTIONS', '/api/orgs/x/members/y');

  it('are not allowed unless configured', async () => {
    const answer = await service.anyone.with({ origin: 'https://app.example.com' }).get('/health/live');
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    const asked = await preflight(service, 'https://app.example.com', 'PATCH');
    expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each(['tauri://localhost', 'https://app.example.com'])('are allowed from %s', async (origin) => {
    const answer = await (await anAccount(open, 'ada')).with({ origin }).get('/api/me');
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('vary')).toMatch(/origin/i);
    const exposed = answer.headers.get('access-control-expose-headers')?.split(/,\s*/);
    expect(exposed).toEqual(expect.arrayContaining(EXPOSED));
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'GET']) {
      const asked = await preflight(open, origin, method);
      expect(asked.status).toBe(204);
      expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
      expect(asked.headers.get('access-control-allow-methods')).toContain(method);
      const allowed = asked.headers.get('access-control-allow-headers')?.toLowerCase().split(/,\s*/);
      expect(allowed).toEqual(expect.arrayContaining(REQUEST_HEADERS));
    }
  });

  it('see errors too', async () => {
    const origin = 'https://app.example.com';
    for (const path of ['/api/me', '/api/nothing', '/api/auth/login']) {
      const answer = await open.anyone.with({ origin }).get(path);
      expect(answer.headers.get('access-control-allow-origin'), path).toBe(origin);
    }
  });

  it.each(
    (
      'null https://evil.example https://app.example.com.evil.example ' +
      'https://evil-app.example.com http://app.example.com https://app.example.com:8443 ' +
      'https://APP.EXAMPLE.COM tauri://localhost.evil.example *'
    ).split(' '),
  )('are not allowed from %s', async (origin) => {
    const answer = await open.anyone.with({ origin }).get('/health/live');
    const asked = await preflight(open, origin, 'PATCH');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  });
});

const LIMIT = 16 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

const MARKS = 4000;
/** Marks of two combining classes in the wrong order: normalization has to move each past all others. */
const HOSTILE = `a${'\u0301'.repeat(MARKS)}${'\u0316'.repeat(MARKS)}`;
/** as many UTF-16 units and octets, in normal form already */
const HARMLESS = `a${'\u00e9'.repeat(2 * MARKS)}`;
const ROUNDS = 9;
/** Without a bound on the length the hostile text takes thirty times as long. */
const MAX_DURATION_RATIO = 5;

describe('request bodies', () => {
  const register = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE) =>
    service.anyone.send('POST', '/api/auth/register', { headers, body });
  const aBody = (more: object = {}): string =>
    JSON.stringify({ email: anEmail(), password: aPassword(), ...more });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
    'application/json ;a=b',
  ])('are accepted as %s', async (type) => {
    expect((await register(aBody(), { 'content-type': type })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
    'application/jsonx',
    'application/vnd.api+json',
    'application/xml',
    'application/octet-stream',
    '*/*',
    'json',
  ])('are refused as %s', async (type) => {
    expect(await register(aBody(), { 'content-type': type })).toMatchObject(unsupportedMediaType);
  });

  it('are refused without a media type', async () => {
    expect(await register(aBody(), {})).toMatchObject(unsupportedMediaType);
  });

  it('are refused as a form, for every method and endpoint', async () => {
    const form = {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'email=a%40b.co&password=x',
    };
    for (const path of [
      '/api/auth/login',
      '/api/auth/register',
      '/api/auth/code/exchange',
      '/api/auth/refresh',
    ])
      expect(await service.anyone.send('POST', path, form)).toMatchObject(unsupportedMediaType);
    for (const path of ['/api/orgs', '/api/auth/code'])
      expect(await ada.send('POST', path, form)).toMatchObject(unsupportedMediaType);
  });

  it.each([
    ['application/json\t', 'validated'],
    ['application/json\t; charset=utf-8', 'validated'],
    [' application/json', 'validated'],
    ['application/json;', 'validated'],
    ['application/json; charset', 'validated'],
    ['application/json\u00a0', 'validated'],
    ['APPLICATION/JSON;a="', 'validated'],
    ['application/json;charset=utf-16', 'validated'],
    ['application/json, text/plain', 'not read'],
  ])('of the odd type %j are %s', async (type, outcome) => {
    const bytes = Buffer.from(
      requestBytes(
        'POST /api/auth/register',
        [`Content-Type: ${type}`, 'Content-Length: 29'],
        '{"email":1,"password":[1,23]}',
      ),
      'latin1',
    );
    expect(await sendBytes(service, bytes)).toMatchObject(
      outcome === 'validated' ? invalidFields('email', 'password') : unsupportedMediaType,
    );
  });

  it.each([
    ['nothing but white space', '  '],
    ['half an object', '{"email":"a@b.co"'],
    ['a trailing comma', '{"email":"a@b.co",}'],
    ['single quotes', "{'email':'a@b.co'}"],
    ['a comment', '{/* */}'],
    ['text after the object', '{}{}'],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"email"'],
    ['a number', '1'],
    ['true', 'true'],
    ['NaN', 'NaN'],
    ['a bad escape', '{"email":"\\x"}'],
    ['a raw line break in text', '{"email":"a\nb"}'],
    ['nothing but a byte order mark', '\ufeff'],
    ['a byte order mark before the object', '\ufeff{"email":"a@b.co","password":"harbor lantern"}'],
    ['__proto__', '{"email":"a@b.co","password":"harbor lantern","__proto__":{"role":"owner"}}'],
    [
      'an escaped __proto__',
      '{"email":"a@b.co","password":"harbor lantern","\\u005f_proto__":{"role":"owner"}}',
    ],
    [
      'constructor.prototype',
      '{"email":"a@b.co","password":"harbor lantern","constructor":{"prototype":{"role":"owner"}}}',
    ],
    ['a nested __proto__', '{"email":{"__proto__":{"role":"owner"}},"password":"harbor lantern"}'],
    ['a key twice', '{"email":"a@b.co","password":"harbor lantern","email":"c@d.co"}'],
    ['a key twice, once escaped', '{"email":"a@b.co","password":"harbor lantern","\\u0065mail" :"a@b.co"}'],
    ['a key twice in an unknown field', '{"email":"a@b.co","password":"harbor lantern","x":[{"y":1,"y":1}]}'],
    ['8,000 nested lists', `${'['.repeat(8000)}${']'.repeat(8000)}`],
    ['4,000 nested lists in a field', `{"email":${'['.repeat(4000)}${']'.repeat(4000)}}`],
  ])('that are %s are malformed', async (_what, body) => {
    expect(await register(body)).toMatchObject(malformedJson);
  });

  it.each(['","email":"', '\\":"\\\\', ':":":', '{"a":1,"a":1}'])('may have %j as a value', async (text) => {
    const password = `${text} ${aPassword()}`;
    const body = JSON.stringify({
      email: anEmail(),
      password,
      x: { password, email: [text, { [text]: text }] },
    });
    expect((await register(body)).status).toBe(201);
  });

  it('that are not UTF-8 are malformed', async () => {
    for (const wrong of [
      [0xff, 0xfe],
      [0xc3, 0x28],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
    ]) {
      const [before, after] = aBody({ x: '?' }).split('?') as [string, string];
      const body = Buffer.concat([Buffer.from(before), Buffer.from(wrong), Buffer.from(after)]);
      expect(await register(new Uint8Array(body))).toMatchObject(malformedJson);
    }
    expect(await register(new Uint8Array(Buffer.from(aBody(), 'utf16le')))).toMatchObject(malformedJson);
  });

  it('do not pollute prototypes', async () => {
    await register('{"__proto__":{"email":"a@b.co","role":"owner"}}');
    await register('{"constructor":{"prototype":{"email":"a@b.co"}}}');
    expect(await register('{}')).toMatchObject(invalidFields('email', 'password'));
  });

  it('that are missing or empty miss their fields', async () => {
    for (const request of [{}, { headers: JSON_TYPE }]) {
      const post = (path: string) => service.anyone.send('POST', path, request);
      expect(await post('/api/auth/register')).toMatchObject(invalidFields('email', 'password'));
      expect(await post('/api/auth/login')).toMatchObject(invalidFields('email', 'password'));
      expect(await post('/api/auth/code/exchange')).toMatchObject(invalidFields('code'));
    }
  });

  it('may have up to 16 KiB', async () => {
    expect((await register(aBody().padEnd(LIMIT))).status).toBe(201);
    expect(await register(aBody().padEnd(LIMIT + 1))).toMatchObject(bodyTooLarge);
    expect(await register(aBody({ x: 'x'.repeat(100_000) }))).toMatchObject(bodyTooLarge);
  });

  it('in chunks have the same limit', async () => {
    const chunk = 'x'.repeat(1024);
    const answer = await sendBytes(
      service,
      requestBytes(
        'POST /api/auth/register',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        `400\r\n${chunk}\r\n`.repeat(17) + '0\r\n\r\n',
      ),
    );
    expect(answer).toMatchObject(bodyTooLarge);
  });

  it('with too large a Content-Length are refused before they arrive', async () => {
    const answer = await sendBytes(
      service,
      requestBytes(
        'POST /api/auth/register',
        ['Content-Type: application/json', 'Content-Length: 1000000000'],
        '{',
      ),
    );
    expect(answer).toMatchObject(bodyTooLarge);
  });

  it('are distinguished from the query', async () => {
    const path = `/api/auth/register?email=${anEmail()}&password=harbor-lantern`;
    const answer = await service.anyone.post(path, {});
    expect(answer).toMatchObject(invalidFields('query'));
    expect(answer.text).not.toContain('harbor');
  });
});

describe('text that is costly to normalize', () => {
  it.each<[string, (text: string) => Promise<unknown>, object]>([
    [
      'a password at login',
      (password) => service.anyone.post('/api/auth/login', { email: ada.email, password }),
      invalidCredentials,
    ],
    [
      'a password at registration',
      (password) => service.anyone.post('/api/auth/register', { email: anEmail(), password }),
      invalidFields('password'),
    ],
    ['the name of an organization', (name) => ada.post('/api/orgs', { name }), invalidFields('name')],
    [
      'an e-mail',
      (text) => service.anyone.post('/api/auth/login', { email: `a@${text}.co`, password: 'x' }),
      invalidFields('email'),
    ],
  ])('takes no longer than other text of its length: %s', async (_what, send, refusal) => {
    const durations: { harmless: number[]; hostile: number[] } = { harmless: [], hostile: [] };
    const measure = async (text: string): Promise<number> => {
      const begin = performance.now();
      expect(await send(text)).toMatchObject(refusal);
      return performance.now() - begin;
    };
    for (const _ of times(ROUNDS, () => 0)) {
      durations.harmless.push(await measure(HARMLESS));
      durations.hostile.push(await measure(HOSTILE));
    }
    // Other load only ever adds time.
    expect(Math.min(...durations.hostile)).toBeLessThan(MAX_DURATION_RATIO * Math.min(...durations.harmless));
  });
});
