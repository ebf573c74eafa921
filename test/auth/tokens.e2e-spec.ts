import { createHmac, createPublicKey, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anId, invalidToken, methodNotAllowed, notFound, unauthorized } from '../support/expected.js';
import { anAccount, anOrgOf, anUnknownId, aPassword, byCode, logIn } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/connections.js';
import { aRefreshableLogin, refreshed } from '../support/refreshing.js';
import { newSecret } from '../../src/services/service-secrets.js';
import { type Service, startService } from '../support/service.js';
import { basic } from '../support/services.js';
import { aSigningKey, decodeToken, encodePart, sessionIdOf, signToken } from '../support/signing-keys.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
const { header, claims } = decodeToken(ada.token);
const key = service.installation.keys[0]!;

describe('the bearer token', () => {
  const meWith = (authorization: string) => service.anyone.with({ authorization }).get('/api/me');

  it('missing gets a challenge without an error code', async () => {
    const answer = await service.anyone.get('/api/me');
    expect(answer).toMatchObject(unauthorized);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])(
    'accepts the scheme in any letter case: %s',
    async (scheme) => {
      expect((await meWith(`${scheme} ${ada.token}`)).status).toBe(200);
    },
  );

  it.each([
    ['nonsense', () => 'Bearer nonsense'],
    ['nothing after the scheme', () => 'Bearer'],
    ['spaces after the scheme', () => 'Bearer  '],
    ['two tokens', () => `Bearer ${ada.token} ${ada.token}`],
    ['a word after the token', () => `Bearer ${ada.token} b`],
    ['a comma after the token', () => `Bearer ${ada.token},`],
    ['a comma list', () => `Basic eA==, Bearer ${ada.token}`],
    ['no scheme', () => ada.token],
    ['another scheme', () => `Token ${ada.token}`],
    ['basic', () => `Basic ${Buffer.from(`${ada.email}:${ada.password}`).toString('base64')}`],
    ['quotes', () => `Bearer "${ada.token}"`],
    ['a scheme that only starts alike', () => `BearerX ${ada.token}`],
    ['no space', () => `Bearer${ada.token}`],
  ])('is refused with %s', async (_what, authorization) => {
    const answer = await meWith(authorization());
    expect(answer).toMatchObject(invalidToken);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
  });

  it.each([
    ['no scheme', () => ada.token, true],
    ['another scheme', () => `Token ${ada.token}`, true],
    ['the credentials of a service', () => basic('billing', newSecret()), true],
    ['no space', () => `Bearer${ada.token}`, true],
    ['a token that is wrong', () => `bearer ${ada.token}x`, false],
    ['no token', () => 'Bearer', false],
  ])(
    'is refused with the form that is needed only if it has another: %s',
    async (_what, authorization, isNamed) => {
      const answer = await meWith(authorization());
      expect(answer).toMatchObject(invalidToken);
      const { detail } = answer.body as { detail: string };
      expect(detail.includes('Authorization: Bearer <token>'), detail).toBe(isNamed);
    },
  );

  it('is read from the Authorization header only', async () => {
    const both = { access_token: ada.token, token: ada.token };
    const inQuery = await service.anyone.get(`/api/me?access_token=${ada.token}&token=${ada.token}`);
    const inBody = await service.anyone.post('/api/auth/code', both);
    const inHeaders = (headers: Record<string, string>) => service.anyone.with(headers).get('/api/me');
    const inCookie = await inHeaders({ cookie: `token=${ada.token}; access_token=${ada.token}` });
    const elsewhere = await inHeaders({ 'x-access-token': ada.token, 'x-api-key': ada.token });
    for (const answer of [inQuery, inCookie, inBody, elsewhere]) expect(answer).toMatchObject(unauthorized);
  });

  it.each([
    ['the same one', [0, 0]],
    ['a right one and then a wrong one', [0, 1]],
    ['a wrong one and then a right one', [1, 0]],
  ])('is refused in two headers: %s', async (_what, order) => {
    const headers = [`Authorization: Bearer ${ada.token}`, 'Authorization: Bearer a.b.c'];
    const sent = order.map((index) => headers[index]!);
    expect(await sendBytes(service, requestBytes('GET /api/me', sent))).toMatchObject(invalidToken);
  });
});

describe('the claims of a token', () => {
  it('contain issuer, audience and expiry, and nothing personal', async () => {
    const before = Math.floor(Date.now() / 1000);
    const grace = await anAccount(service, 'grace');
    const issued = decodeToken(grace.token);
    expect(issued.header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: key.kid });
    const iat = issued.claims['iat'] as number;
    expect(issued.claims).toEqual({
      iss: 'accounts',
      aud: 'accounts',
      sub: grace.id,
      sid: anId,
      jti: expect.stringMatching(/./),
      iat: expect.any(Number),
      exp: iat + 86_400,
      auth_time: iat,
      amr: ['pwd'],
      epoch: 0,
      client_id: 'accounts',
    });
    expect(iat).toBeGreaterThanOrEqual(before);
    expect(iat).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  });

  it('tell by the epoch which sessions ended when all others did', async () => {
    const grace = await anAccount(service, 'grace');
    const change = { currentPassword: grace.password, newPassword: aPassword() };
    await grace.put('/api/me/password', change);
    const login = await logIn(service, { email: grace.email, password: change.newPassword });
    const epochs = [grace, login.body, await byCode(service, grace)].map(
      ({ token }) => decodeToken(token).claims['epoch'],
    );
    expect(epochs, 'before, after, and of the session that was kept').toEqual([0, 1, 1]);
  });

  it('keep amr and auth_time when a session is refreshed or passed on', async () => {
    const grace = await anAccount(service, 'grace');
    const login = await aRefreshableLogin(service, grace);
    const auth_time = Math.floor(Date.now() / 1000) - 3600;
    const change = 'UPDATE sessions SET auth_time = ? WHERE id = ?';
    await service.db.query(change, [auth_time * 1000, sessionIdOf(login)]);
    const next = await refreshed(service, login.refreshToken);
    const opened = await byCode(service, grace.as(next.token));
    const kept = { auth_time, amr: ['pwd'], epoch: 0, client_id: 'accounts' };
    for (const { token } of [next, opened]) expect(decodeToken(token).claims).toMatchObject(kept);
    const rows = await service.db.query('SELECT amr FROM sessions WHERE id = ?', [sessionIdOf(opened)]);
    expect(rows).toEqual([{ amr: 'pwd' }]);
  });

  it('name the login and the head of the branch above the session, and nothing else', async () => {
    const login = await anAccount(service, 'grace');
    const head = await byCode(service, login);
    const below = await byCode(service, head);
    const further = await byCode(service, below);
    const links = [login, head, below, further].map(({ token }) => {
      const { sid, login_sid, branch_sid } = decodeToken(token).claims;
      return { sid, login_sid, branch_sid };
    });
    const [ofLogin, ofHead] = [login, head].map(sessionIdOf);
    expect(links).toEqual([
      { sid: ofLogin },
      { sid: ofHead, login_sid: ofLogin },
      { sid: sessionIdOf(below), login_sid: ofLogin, branch_sid: ofHead },
      { sid: sessionIdOf(further), login_sid: ofLogin, branch_sid: ofHead },
    ]);
  });

  it('never contain a role, and are unique to each token', async () => {
    const grace = await anAccount(service, 'grace');
    await anOrgOf(grace);
    const login = decodeToken((await logIn(service, grace)).body.token).claims;
    expect(JSON.stringify(login)).not.toMatch(/owner|admin|member|example\.com/);
    const first = decodeToken(grace.token).claims;
    expect(first['jti']).not.toBe(login['jti']);
    expect(first['sid']).not.toBe(login['sid']);
  });
});

describe('a forged token', () => {
  const now = (): number => Math.floor(Date.now() / 1000);
  const sid = sessionIdOf(ada);
  const casesOf = (table: Record<string, unknown[]>): [name: string, value: unknown, more?: object][] =>
    Object.entries(table).flatMap(([name, values]) =>
      values.map((value): [string, unknown] => [name, value]),
    );
  const send = (token: string) => service.anyone.with({ authorization: `Bearer ${token}` }).get('/api/me');

  /** Twice, because a verified token is remembered: one that was rejected must not be. */
  const tryToken = async (token: string) => {
    const first = await send(token);
    const second = await send(token);
    expect(second.status, 'the second time').toBe(first.status);
    return second;
  };

  it('is accepted when signed correctly, so these tests can fail', async () => {
    expect((await tryToken(signToken(header, claims, key))).status).toBe(200);
    expect((await tryToken(signToken(header, { ...claims, further: 'claim' }, key))).status).toBe(200);
  });

  it.each(
    casesOf({
      exp: [undefined, String(now() + 3600), null, true, [now() + 3600], now() - 31, -1],
      iat: [undefined, String(now()), now() + 86_400, now() + 600],
      jti: [undefined],
      auth_time: [undefined, String(now())],
      nbf: [now() + 600],
      iss: [undefined, 'somebody', ['accounts'], 'accounts/'],
      aud: [undefined, 'shop', 'accounts-admin', 'account', ''],
      sub: [
        undefined,
        null,
        1,
        {},
        [ada.id],
        'ada',
        ada.id.toUpperCase(),
        `${ada.id} `,
        anUnknownId(),
        ada.email,
      ],
      sid: [undefined, null, { $ne: '' }, [sid], 0, anUnknownId(), sid.toUpperCase()],
      client_id: [undefined, 'billing', '', null, ['accounts']],
    }),
  )('is refused with the claim %s: %j', async (name, value) => {
    expect(await tryToken(signToken(header, { ...claims, [name]: value }, key))).toMatchObject(invalidToken);
  });

  it.each([1e30, now() + 10 * 365 * 86_400])('is refused when it lives too long: until %d', async (exp) => {
    expect(await tryToken(signToken(header, { ...claims, exp }, key))).toMatchObject(invalidToken);
  });

  it('is accepted within the leeway', async () => {
    expect((await tryToken(signToken(header, { ...claims, exp: now() - 5 }, key))).status).toBe(200);
  });

  it("is refused when it names another user's session", async () => {
    const eve = await anAccount(service, 'eve');
    const token = signToken(header, { ...decodeToken(eve.token).claims, sub: ada.id }, key);
    expect(await tryToken(token)).toMatchObject(invalidToken);
  });

  it.each([
    ...casesOf({
      typ: [undefined, 'JWT', 'code+jwt', ['at+jwt'], null],
      crit: [['x'], []],
      alg: [undefined, 'none', 'nOnE', 'HS256', 'ES384', 'RS256', 'es256', null, ['ES256']],
      kid: [undefined, null, 0, { toString: 'x' }, [key.kid], '__proto__', 'constructor'],
    }),
    ...casesOf({ kid: [randomUUID(), '../../dev/null', "' OR 1=1 --", 'k'.repeat(4096)] }),
    ['x', true, { crit: ['x'] }] as const,
    ['b64', false, { crit: ['b64'] }] as const,
  ])('is refused with the header %s: %j', async (name, value, more = {}) => {
    const wrong = { ...header, ...more, [name]: value };
    expect(await tryToken(signToken(wrong, claims, key))).toMatchObject(invalidToken);
  });

  it.each([['text'], [null], [[]], [1], [true], [['sub']], [{}]])(
    'is refused with a payload that is not a claims set: %j',
    async (payload) => {
      expect(await tryToken(signToken(header, payload, key))).toMatchObject(invalidToken);
    },
  );

  it.each([['text'], [null], [[]], [1], [{}]])('is refused with a malformed header: %j', async (wrong) => {
    expect(await tryToken(signToken(wrong, claims, key))).toMatchObject(invalidToken);
  });

  it.each<[string, (head: string, body: string, signature: string) => string]>([
    ['without a signature', (head, body) => `${head}.${body}.`],
    ['without the last dot', (head, body) => `${head}.${body}`],
    ['with padding', (head, body, signature) => `${head}.${body}.${signature}=`],
    ['with a fourth part', (head, body, signature) => `${head}.${body}.${signature}.`],
    ['with five parts', (head, body, signature) => `${head}.${body}.${signature}.x.y`],
    ['with another first byte', (head, body, signature) => `${head}.${body}.${otherFirst(signature)}`],
    ['with half a signature', (head, body, signature) => `${head}.${body}.${signature.slice(0, 43)}`],
    [
      'with zeros for a signature',
      (head, body) => `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
    ],
    ['with a zero-length part', (_head, body, signature) => `.${body}.${signature}`],
    ['with swapped parts', (head, body, signature) => `${body}.${head}.${signature}`],
    ['of 12 kB', (head, body, signature) => `${head}.${body}.${signature}${'A'.repeat(12_000)}`],
    ['as dots', () => '..'],
    ['as text', () => 'null'],
  ])('is refused %s', async (_what, change) => {
    const [head, body, signature] = ada.token.split('.') as [string, string, string];
    expect(await tryToken(change(head, body, signature))).toMatchObject(invalidToken);
  });

  it("is refused with another token's payload under its signature", async () => {
    const [head, , signature] = (await anAccount(service, 'eve')).token.split('.');
    expect(await tryToken(`${head}.${ada.token.split('.')[1]}.${signature}`)).toMatchObject(invalidToken);
  });

  it('is refused when signed by another key under a known kid', async () => {
    expect(await tryToken(signToken(header, claims, aSigningKey()))).toMatchObject(invalidToken);
  });

  it.each([
    ['HS256', 'sha256'],
    ['HS512', 'sha512'],
  ])('is refused when the public key serves as a secret of %s', async (alg, hash) => {
    const publicKey = createPublicKey(key.publicKey.export({ format: 'pem', type: 'spki' }));
    const secrets = [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(publicKey.export({ format: 'jwk' })),
    ];
    const input = `${encodePart({ ...header, alg })}.${encodePart(claims)}`;
    for (const secret of secrets) {
      const signature = createHmac(hash, secret).update(input).digest('base64url');
      expect(await tryToken(`${input}.${signature}`)).toMatchObject(invalidToken);
    }
  });

  it('is refused with a key of its own, and nothing is fetched', async () => {
    let connections = 0;
    const listener = createServer((_request, response) => response.end(JSON.stringify({ keys: [] })));
    listener.on('connection', () => (connections += 1));
    await new Promise<void>((ready) => listener.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    const own = aSigningKey();
    const jwk = own.publicKey.export({ format: 'jwk' });
    const embedded = [{ jwk }, { jwk, kid: undefined }, { x5c: ['MIIB'] }];
    for (const change of [...embedded, { jku: url, kid: own.kid }, { jku: url }, { x5u: url }])
      expect(await tryToken(signToken({ ...header, ...change }, claims, own))).toMatchObject(invalidToken);
    expect(connections).toBe(0);
    listener.close();
  });
});

const otherFirst = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);

const OAUTH = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';
const KEYS = '/.well-known/jwks.json';

describe('discovery, where the issuer is a URL with a path', () => {
  const issuer = 'http://id.example.com:8080/tenants/accounts/';
  const metadata = {
    issuer,
    jwks_uri: 'http://id.example.com:8080/tenants/accounts/.well-known/jwks.json',
    token_endpoint: 'http://id.example.com:8080/tenants/accounts/api/auth/token',
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    grant_types_supported: ['client_credentials', 'urn:ietf:params:oauth:grant-type:token-exchange'],
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
  let tenant: Service;

  beforeAll(async () => {
    tenant = await startService({ env: { JWT_ISSUER: issuer, JWT_AUDIENCE: 'shop', TOKEN_TTL: '10m' } });
  });
  afterAll(() => tenant.stop());

  it('names exactly the issuer of the tokens, whose claims follow the configuration', async () => {
    const grace = await anAccount(tenant, 'grace');
    const issued = decodeToken(grace.token).claims;
    expect(issued).toMatchObject({ iss: issuer, aud: 'shop', exp: (issued['iat'] as number) + 600 });
    expect((await grace.get('/api/me')).status).toBe(200);
  });

  it.each(paths)(
    '%s has what is true here, may be cached as long as the keys, and takes only GET and HEAD',
    async (path) => {
      const answer = await tenant.anyone.get(path);
      expect(answer).toMatchObject({ status: 200, body: metadata });
      expect(answer.body).toEqual(metadata);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
      expect((await tenant.anyone.get(KEYS)).headers.get('cache-control')).toBe('public, max-age=300');
      expect((await tenant.anyone.get(`${path}?resource=x`)).body).toEqual(metadata);
      const head = await tenant.anyone.send('HEAD', path);
      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers.get('cache-control')).toBe('public, max-age=300');
      const post = await tenant.anyone.post(path, {});
      expect(post).toMatchObject(methodNotAllowed);
      expect(post.headers.get('allow')).toBe('GET, HEAD');
    },
  );

  it('serves the keys where its document says, whether a proxy takes the path off or not', async () => {
    const { pathname } = new URL(metadata.jwks_uri);
    const [below, atRoot] = [await tenant.anyone.get(pathname), await tenant.anyone.get(KEYS)];
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
    expect(await tenant.anyone.get(path)).toMatchObject(notFound);
  });
});

describe('discovery, where the issuer is a name', () => {
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
