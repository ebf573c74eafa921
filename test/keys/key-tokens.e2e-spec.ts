import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { type ApiKey, insertApiKey } from '../support/api-keys.js';
import { sendBytes, requestBytes } from '../support/connections.js';
import { type DeclaredRoute, declaredRoutes } from '../support/declared-routes.js';
import {
  invalidClient,
  invalidCode,
  invalidCredentials,
  invalidRefreshToken,
  invalidToken,
  unauthorized,
} from '../support/expected.js';
import { type Account, anAccount, anOrgOf, anUnknownId, logIn, type Org } from '../support/personas.js';
import {
  aBoundToken,
  aCallToken,
  aServiceCaller,
  basic,
  type ServiceCaller,
  setCall,
  tokenRequest,
} from '../support/services.js';
import { aSigningKey, decodeToken, sessionIdOf, signToken } from '../support/signing-keys.js';
import { startService } from '../support/service.js';

const service = await startService();
const { db } = service;
const ada = await anAccount(service, 'ada');
const org = await anOrgOf(ada);
const INACTIVE = { active: false };

type Part = Record<string, unknown>;

/** Services that call each other in this order, and all accept keys. */
async function aWay(): Promise<[ServiceCaller, ServiceCaller, ServiceCaller]> {
  const [billing, ledger, audit] = [
    await aServiceCaller(service, 'introspect', 'keys'),
    await aServiceCaller(service, 'introspect', 'keys'),
    await aServiceCaller(service, 'introspect', 'keys'),
  ];
  await setCall(db, billing, ledger);
  await setCall(db, ledger, audit);
  return [billing, ledger, audit];
}

const [billing, ledger, audit] = await aWay();
const isActive = async (by: ServiceCaller, token: string): Promise<boolean> => {
  const { body, text } = await by.introspect<{ active: boolean }>({ token });
  if (!body.active) expect(text).toBe('{"active":false}');
  return body.active;
};
const setScopes = ({ name }: ServiceCaller, allow: string): Promise<unknown> =>
  db.query('UPDATE services SET allow = ? WHERE name = ?', [allow, name]);

describe('a token that a service gets for a key', () => {
  it('names the key, its user and the way, and no session', async () => {
    const { id, key } = await insertApiKey(service, ada, billing, { role: 'admin', orgId: org.id });
    const { claims, header } = decodeToken(await aCallToken(billing, ledger, key));
    const iat = claims['iat'] as number;
    const kept = { iss: 'accounts', sub: ada.id, via_epoch: 0, key: { id, role: 'admin', org: org.id } };
    expect(header).toEqual(decodeToken(ada.token).header);
    expect(claims).toEqual({
      ...kept,
      aud: ledger.name,
      client_id: billing.name,
      act: { sub: `service:${billing.name}` },
      jti: expect.any(String),
      iat,
      exp: iat + 300,
    });
    const next = decodeToken(await aCallToken(ledger, audit, await aCallToken(billing, ledger, key))).claims;
    expect(next).toEqual({
      ...kept,
      aud: audit.name,
      client_id: ledger.name,
      act: { sub: `service:${ledger.name}`, act: { sub: `service:${billing.name}` } },
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
  });

  it('never lasts longer than the key', async () => {
    const expiresAt = Date.now() + 20_000;
    const { key } = await insertApiKey(service, ada, billing, { expiresAt });
    const { body } = await billing.requestToken(tokenRequest(ledger.name, key));
    expect(body.expires_in).toBeLessThanOrEqual(20);
    const exp = Math.floor(expiresAt / 1000);
    expect(decodeToken(body.access_token).claims['exp']).toBe(exp);
    expect(decodeToken(await aCallToken(ledger, audit, body.access_token)).claims['exp']).toBe(exp);
  });

  it('is for a service that accepts keys, as the refusal of every other target', async () => {
    const { key } = await insertApiKey(service, ada, billing);
    const deaf = await aServiceCaller(service, 'introspect');
    await setCall(db, billing, deaf);
    await setCall(db, ledger, deaf);
    const handedOn = await aCallToken(billing, ledger, key);
    const refusals = [
      await billing.requestToken(tokenRequest(deaf.name, key)),
      await billing.requestToken(tokenRequest(audit.name, key)),
      await ledger.requestToken(tokenRequest(deaf.name, handedOn)),
    ];
    for (const { status, body } of refusals)
      expect([status, { ...body, requestId: '' }]).toEqual([400, { ...refusals[0]!.body, requestId: '' }]);
    expect(refusals[0]!.body).toMatchObject({ code: 'invalid_target', error: 'invalid_target' });
    expect(
      (await billing.requestToken(tokenRequest(deaf.name, await aBoundToken(billing, ada)))).status,
    ).toBe(200);
  });

  it.each<[what: string, key: () => Promise<string> | string]>([
    ['of another service', async () => (await insertApiKey(service, ada, ledger)).key],
    [
      'that has expired',
      async () => (await insertApiKey(service, ada, billing, { expiresAt: Date.now() - 1 })).key,
    ],
    ['with a wrong checksum', async () => swapped((await insertApiKey(service, ada, billing)).key)],
    ['that is unknown', async () => aRevokedKey()],
    ['of a user who is no member', async () => (await strangersKey()).key],
    ['that is cut', async () => (await insertApiKey(service, ada, billing)).key.slice(0, -1)],
    ['after a space', async () => ` ${(await insertApiKey(service, ada, billing)).key}`],
    ['of 15 KiB', () => `ack_${'a'.repeat(15_000)}`],
  ])('is not issued for a key %s, which no introspection calls active', async (_what, keyOf) => {
    const token = await keyOf();
    const { status, body } = await billing.requestToken<Part>(tokenRequest(ledger.name, token));
    expect({ status, ...body, requestId: 'x' }).toEqual({
      status: 400,
      type: 'about:blank',
      title: 'Bad Request',
      detail: 'The subject token is malformed, expired or revoked, or it is not for this service.',
      code: 'invalid_subject_token',
      error: 'invalid_request',
      requestId: 'x',
    });
    for (const by of [billing, audit]) expect(await isActive(by, token)).toBe(false);
  });

  const swapped = (key: string): string => key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  async function aRevokedKey(): Promise<string> {
    const { id, key } = await insertApiKey(service, ada, billing);
    await db.query('DELETE FROM api_keys WHERE id = ?', [id]);
    return key;
  }
  const strangersKey = async (): Promise<ApiKey> =>
    insertApiKey(service, await anAccount(service, 'stranger'), billing, { orgId: org.id });
});

describe('of the links of a token with a key, each ends it', () => {
  interface Held {
    way: [ServiceCaller, ServiceCaller, ServiceCaller];
    key: ApiKey;
    user: Account;
    tokens: [key: string, second: string, third: string];
  }

  async function aHeld(): Promise<Held> {
    const way = await aWay();
    const user = await anAccount(service, 'user');
    const key = await insertApiKey(service, user, way[0]);
    const second = await aCallToken(way[0], way[1], key.key);
    return { way, key, user, tokens: [key.key, second, await aCallToken(way[1], way[2], second)] };
  }
  const activeOf = ({ way, tokens }: Held): Promise<boolean[]> =>
    Promise.all(way.map((by, index) => isActive(by, tokens[index]!)));

  it.each<[link: string, end: (held: Held) => Promise<unknown>, left: boolean[]]>([
    ['the key', ({ key }) => db.query('DELETE FROM api_keys WHERE id = ?', [key.id]), [false, false, false]],
    [
      'the time of the key',
      ({ key }) => db.query('UPDATE api_keys SET expires_at = ? WHERE id = ?', [Date.now() - 1, key.id]),
      [false, false, false],
    ],
    ['the scope of the first service', ({ way }) => setScopes(way[0], 'introspect'), [false, false, false]],
    ['the scope of a service between', ({ way }) => setScopes(way[1], 'introspect'), [true, false, true]],
    ['the scope of the last service', ({ way }) => setScopes(way[2], 'introspect'), [true, true, false]],
    ['the first call', ({ way }) => setCall(db, way[0], way[1], false), [true, false, false]],
    ['the last call', ({ way }) => setCall(db, way[1], way[2], false), [true, true, false]],
  ])('%s', async (_link, end, left) => {
    const held = await aHeld();
    expect(await activeOf(held)).toEqual([true, true, true]);
    await end(held);
    expect(await activeOf(held)).toEqual(left);
    const { way, tokens } = held;
    const asked = await way[1].requestToken(tokenRequest(way[2].name, tokens[1]));
    expect(asked.status === 200).toBe(left[1]! && left[2]!);
  });

  it('for good, if it was a service or a call, while the key returns with its service', async () => {
    const held = await aHeld();
    const [first, second] = held.way;
    await first.client.disable();
    expect((await first.introspect({ token: held.key.key })).status).toBe(401);
    await first.client.enable();
    expect(await activeOf(held)).toEqual([true, false, false]);
    const fresh = await aCallToken(first, second, held.key.key);
    await setCall(db, first, second, false);
    await setCall(db, first, second);
    expect([await isActive(first, held.key.key), await isActive(second, fresh)]).toEqual([true, false]);
  });

  it('and no key that is made later revives one', async () => {
    const held = await aHeld();
    await db.query('DELETE FROM api_keys WHERE id = ?', [held.key.id]);
    await insertApiKey(service, held.user, held.way[0]);
    expect(await activeOf(held)).toEqual([false, false, false]);
  });
});

describe('a forged token with a key', () => {
  let key: ApiKey;
  let ofOrg: ApiKey;
  let token: string;
  let other: Account;
  let otherOrg: Org;
  beforeAll(async () => {
    other = await anAccount(service, 'other');
    otherOrg = await anOrgOf(ada);
    key = await insertApiKey(service, ada, billing);
    ofOrg = await insertApiKey(service, ada, billing, { orgId: org.id });
    token = await aCallToken(billing, ledger, key.key);
    await setCall(db, audit, ledger);
  });

  const claim = (change: Part): Part => ({ key: { id: key.id, role: key.role, org: null, ...change } });
  const act = (...names: string[]): object | undefined =>
    names.reduce<object | undefined>(
      (inner, name) => ({ sub: `service:${name}`, ...(inner && { act: inner }) }),
      undefined,
    );

  it.each<[what: string, change: () => Part | Promise<Part>]>([
    ['the id of another key', () => claim({ id: ofOrg.id })],
    [
      'the id of a key of another user',
      async () => claim({ id: (await insertApiKey(service, other, billing)).id }),
    ],
    [
      'the id of a key for another service',
      async () => claim({ id: (await insertApiKey(service, ada, audit)).id }),
    ],
    ['an unknown id', () => claim({ id: anUnknownId() })],
    ['the hash as its id', () => claim({ id: key.key })],
    ['a higher role', () => claim({ role: 'owner' })],
    ['a role that there is not', () => claim({ role: 'root' })],
    ['an organization', () => claim({ org: org.id })],
    ['an organization that is a text', () => claim({ org: 'x' })],
    ['no word about an organization', () => claim({ org: undefined })],
    ['the key of an organization without it', () => claim({ id: ofOrg.id, org: null })],
    ['the key of an organization at another one', () => claim({ id: ofOrg.id, org: otherOrg.id })],
    ['another user', () => ({ sub: other.id })],
    ['a service as its user', () => ({ sub: `service:${billing.name}` })],
    ['the session of the user', () => ({ sid: sessionIdOf(ada) })],
    ['the time of a login', () => ({ auth_time: Math.floor(Date.now() / 1000) })],
    ['all that a session has', () => ({ ...decodeToken(ada.token).claims, aud: ledger.name })],
    ['another first service', () => ({ act: act(audit.name), client_id: audit.name })],
    ['a service before the first', () => ({ act: act(audit.name, billing.name) })],
    ['no actor', () => ({ act: undefined })],
    [
      'no actor, for the service of the key',
      () => ({ act: undefined, aud: billing.name, client_id: billing.name }),
    ],
    ['no state', () => ({ via_epoch: undefined })],
    ['an old state', () => ({ via_epoch: -1 })],
    ['all services as audience', () => ({ aud: 'accounts' })],
    ['null as its key', () => ({ key: null })],
    ['a list as its key', () => ({ key: [key.id, key.role, null] })],
    ['a text as its key', () => ({ key: key.id })],
    ['no key', () => ({ key: undefined })],
    ['no time of expiry', () => ({ exp: undefined })],
  ])('is refused with %s', async (_what, change) => {
    const { header, claims } = decodeToken(token);
    const forgery = signToken(header, { ...claims, ...(await change()) }, service.installation.keys[0]!);
    for (const by of [ledger, billing, audit]) expect(await isActive(by, forgery)).toBe(false);
    expect(await ada.as(forgery).get('/api/me')).toMatchObject(invalidToken);
    const refused = await ledger.requestToken(tokenRequest(audit.name, forgery));
    expect(refused.body).toMatchObject({ code: 'invalid_subject_token' });
    expect(await isActive(ledger, token)).toBe(true);
  });

  it('is refused if it is signed by a foreign key', async () => {
    const { header, claims } = decodeToken(token);
    expect(await isActive(ledger, signToken(header, claims, aSigningKey()))).toBe(false);
  });

  it('gets nothing from a claim of a key on the token of a session', async () => {
    const bound = await aBoundToken(billing, ada);
    for (const [held, by] of [
      [bound, billing],
      [await aCallToken(billing, ledger, bound), ledger],
      [ada.token, ledger],
    ] as const) {
      const { header, claims } = decodeToken(held);
      const forgery = signToken(header, { ...claims, ...claim({}) }, service.installation.keys[0]!);
      expect((await by.introspect({ token: forgery })).body).toEqual(INACTIVE);
      expect(await ada.as(forgery).get('/api/me')).toMatchObject(invalidToken);
    }
  });

  it('shows and hands on nothing but the three members of the key', async () => {
    const { header, claims } = decodeToken(token);
    const more = { ...claims, key: { ...(claims['key'] as object), further: 'claim' } };
    const forgery = signToken(header, more, service.installation.keys[0]!);
    const shown = { id: key.id, role: key.role, org: null };
    expect((await ledger.introspect<Part>({ token: forgery })).body['key']).toEqual(shown);
    expect(decodeToken(await aCallToken(ledger, audit, forgery)).claims['key']).toEqual(shown);
  });
});

describe('a key is no credential', async () => {
  const { key } = await insertApiKey(service, ada, billing, { role: 'owner' });
  const token = await aCallToken(billing, ledger, key);
  const routes = await declaredRoutes();

  it.each(routes)('for $method $path, nor is a token with a key', async ({ method, path, access }) => {
    const target = path.replaceAll(/:\w+/g, anUnknownId());
    const anonymous = await service.anyone.sendJson<Part>(method, target, undefined);
    for (const shown of [key, token]) {
      const answer = await service.anyone.withToken(shown).sendJson<Part>(method, target, undefined);
      expect(answer).toMatchObject(refusalAt(access, anonymous));
    }
  });

  /** A route that everyone may call answers as without credentials. */
  function refusalAt(access: DeclaredRoute['access'], { status, body }: Answer<Part>): object {
    if (access?.to === 'services') return invalidClient;
    const isOpen = access?.to === 'everyone' || (access?.to === 'signed-in' && access.or === 'refresh-token');
    if (!isOpen) return invalidToken;
    return { status, ...(status >= 400 && status !== 401 && { body: { code: body['code'] } }) };
  }

  it.each<[as: string, send: () => Promise<Answer | undefined>, expected: object]>([
    ['a password', () => logIn(service, { email: ada.email, password: key }), invalidCredentials],
    ['a one-time code', () => service.anyone.post('/api/auth/code/exchange', { code: key }), invalidCode],
    [
      'a refresh token',
      () => service.anyone.post('/api/auth/refresh', { refreshToken: key }),
      invalidRefreshToken,
    ],
    ['a Basic secret', () => asBasic(basic(billing.name, key)), invalidClient],
    ['a Basic user', () => asBasic(basic(key, billing.secret)), invalidClient],
    ['a Basic user without a secret', () => asBasic(basic(key, '')), invalidClient],
    ['a parameter', () => service.anyone.get(`/api/me?access_token=${key}`), unauthorized],
    [
      'a header without a scheme',
      () => service.anyone.with({ authorization: key }).get('/api/me'),
      invalidToken,
    ],
    ['one of two headers', () => twice(`Bearer ${ada.token}`, `Bearer ${key}`), invalidToken],
    ['the first of two headers', () => twice(`Bearer ${key}`, `Bearer ${ada.token}`), invalidToken],
  ])('as %s', async (_as, send, expected) => {
    expect(await send()).toMatchObject(expected);
  });

  const asBasic = (authorization: string): Promise<Answer> =>
    service.anyone.with({ authorization }).send('POST', '/api/auth/introspect', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${key}`,
    });
  const twice = (...values: string[]): Promise<Answer | undefined> =>
    sendBytes(
      service,
      requestBytes(
        'GET /api/me',
        values.map((value) => `Authorization: ${value}`),
      ),
    );
});
