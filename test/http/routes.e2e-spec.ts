import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { methodNotAllowed, notFound } from '../support/expected.js';
import { anAccount, anOrgOf, type Account, type Org } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/raw-connection.js';
import { type Service, startService } from '../support/service.js';

const ROUTES: [string, string[]][] = [
  ['/api/auth/register', ['POST']],
  ['/api/auth/login', ['POST']],
  ['/api/auth/code', ['POST']],
  ['/api/auth/code/exchange', ['POST']],
  ['/api/me', ['GET']],
  ['/api/orgs', ['POST']],
  ['/api/orgs/x', ['GET']],
  ['/api/orgs/x/members', ['GET', 'POST']],
  ['/api/orgs/x/members/y', ['PATCH', 'DELETE']],
  ['/health/live', ['GET']],
  ['/.well-known/jwks.json', ['GET']],
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

describe('routes', () => {
  let service: Service;
  let ada: Account;
  let org: Org;

  beforeAll(async () => {
    service = await startService();
    ada = await anAccount(service, 'ada');
    org = await anOrgOf(ada);
  });
  afterAll(() => service.stop());

  const wrong = ROUTES.flatMap(([path, allowed]) =>
    METHODS.filter((method) => !allowed.includes(method)).map((method) => ({ method, path, allowed })),
  );
  it.each(wrong)('$method $path is no method of that path', async ({ method, path, allowed }) => {
    const answer = await service.anyone.send(method, path);

    expect(answer).toMatchObject(methodNotAllowed);
    const allow = answer.headers
      .get('allow')
      ?.split(/,\s*/)
      .filter((name) => name !== 'HEAD');
    expect(allow?.toSorted()).toEqual(allowed.toSorted());
  });

  it.each(['TRACE', 'CONNECT', 'PROPFIND', 'QUERY', 'FOO'])('%s does nothing', async (method) => {
    const answer = await sendBytes(
      service,
      requestBytes(`${method} /api/me`, [`Authorization: Bearer ${ada.token}`, 'Cookie: probe=echo-me']),
    );

    expect(answer?.status ?? 'hung up').toBeOneOf([400, 404, 405, 501, 'hung up']);
    expect(answer?.text ?? '').not.toContain('echo-me');
  });

  it.each(['HEAD'])('%s tells no more than GET', async (method) => {
    const anonymous = await service.anyone.send(method, '/api/me');
    const signedIn = await ada.send(method, '/api/me');

    expect([401, 405]).toContain(anonymous.status);
    expect([200, 405]).toContain(signedIn.status);
    expect([anonymous.text, signedIn.text]).toEqual(['', '']);
  });

  it.each([
    '/',
    '/api',
    '/api/',
    '/api/nothing',
    '/api/auth',
    '/api/users',
    '/api/admin',
    '/metrics',
    '/.env',
    '/.git/config',
  ])('%s leads nowhere', async (path) => {
    expect(await service.anyone.get(path)).toMatchObject(notFound);
    expect(await ada.post(path, {})).toMatchObject(notFound);
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
  ])('%s is no way round the token', async (path) => {
    const answer = await sendBytes(service, requestBytes(`GET ${path}`));

    expect([400, 401, 404]).toContain(answer?.status);
  });

  it.each(['%', '%zz', '%c3%28', '%e0%80%80', '%ff', '%ed%a0%80'])(
    'the escape %s, which is none, is a problem like any other',
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

  it.each([2_000, 8_000, 15_000])('a path of %i characters is a problem like any other', async (length) => {
    const answer = await ada.get(`/api/orgs/${'x'.repeat(length)}`);

    expect([404, 414]).toContain(answer.status);
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
