import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { methodNotAllowed, notFound } from '../support/expected.js';
import { anAccount } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const OAUTH = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';
const KEYS = '/.well-known/jwks.json';

describe('discovery, where the issuer is a URL with a path', () => {
  const issuer = 'http://id.example.com:8080/tenants/accounts/';
  const metadata = {
    issuer,
    jwks_uri: 'http://id.example.com:8080/tenants/accounts/.well-known/jwks.json',
    introspection_endpoint: 'http://id.example.com:8080/tenants/accounts/api/auth/introspect',
    introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
  };
  /** The last three need no proxy that takes the path off. */
  const paths = [
    OAUTH,
    OPENID,
    `${OAUTH}/tenants/accounts`,
    `${OAUTH}/tenants/accounts/`,
    `/tenants/accounts${OPENID}`,
  ];
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { JWT_ISSUER: issuer, JWT_AUDIENCE: 'shop', TOKEN_TTL: '10m' } });
  });
  afterAll(() => service.stop());

  it('names exactly the issuer of the tokens, whose claims follow the configuration', async () => {
    const ada = await anAccount(service, 'ada');
    const { claims } = decodeToken(ada.token);
    expect(claims).toMatchObject({ iss: issuer, aud: 'shop', exp: (claims['iat'] as number) + 600 });
    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it.each(paths)(
    '%s has what is true here, may be cached as long as the keys, and takes only GET and HEAD',
    async (path) => {
      const answer = await service.anyone.get(path);
      expect(answer).toMatchObject({ status: 200, body: metadata });
      expect(answer.body).toEqual(metadata);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
      expect((await service.anyone.get(KEYS)).headers.get('cache-control')).toBe('public, max-age=300');
      expect((await service.anyone.get(`${path}?resource=x`)).body).toEqual(metadata);
      const head = await service.anyone.send('HEAD', path);
      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers.get('cache-control')).toBe('public, max-age=300');
      const post = await service.anyone.post(path, {});
      expect(post).toMatchObject(methodNotAllowed);
      expect(post.headers.get('allow')).toBe('GET, HEAD');
    },
  );

  it('serves the keys where its document says, whether a proxy takes the path off or not', async () => {
    const { pathname } = new URL(metadata.jwks_uri);
    const [below, atRoot] = [await service.anyone.get(pathname), await service.anyone.get(KEYS)];
    expect(below.status).toBe(200);
    expect(below.body).toEqual(atRoot.body);
  });

  it.each([
    '/tenants/accounts/docs',
    '/tenants/accounts/api/me',
    '/tenants/accounts/health/ready',
    '/tenants/accounts/',
    `/tenants${OPENID}`,
    `/tenants/accounts${OPENID}/`,
    `/tenants/accounts${OAUTH}`,
    `${OAUTH}/tenants`,
    `${OAUTH}/tenants/accounts/docs`,
    `${OPENID}/tenants/accounts`,
  ])('%s stays unknown', async (path) => {
    expect(await service.anyone.get(path)).toMatchObject(notFound);
  });
});

describe('discovery, where the issuer is a name', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it.each([OAUTH, OPENID])('%s is 404, which nobody may keep', async (path) => {
    const answer = await service.anyone.get(path);
    expect(answer).toMatchObject(notFound);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await service.anyone.send('HEAD', path)).status).toBe(404);
    expect(await service.anyone.post(path, {})).toMatchObject(methodNotAllowed);
  });

  it.each([`${OAUTH}/accounts`, `/accounts${OPENID}`, `/accounts${KEYS}`])('%s is unknown', async (path) => {
    expect(await service.anyone.get(path)).toMatchObject(notFound);
  });
});
