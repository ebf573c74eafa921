import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import {
  aJwt,
  boundTokenRefused,
  invalidClient,
  invalidCode,
  invalidFields,
  invalidToken,
} from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { type Account, aCode, anAccount, anOrgOf, exchange } from '../support/personas.js';
import { startClusterWithoutLimits } from '../support/service.js';
import { aServiceClient, basic, type ServiceClient } from '../support/services.js';
import { decodeToken, sessionIdOf } from '../support/signing-keys.js';

const NO_SECRET_OF_ANYBODY = `acs_${'A'.repeat(43)}`;

/** The routes of this service that take a token for another one. */
const OPEN_TO_BOUND_TOKENS = [
  'GET /api/me',
  'GET /api/me/orgs',
  'GET /api/orgs/{orgId}',
  'GET /api/orgs/{orgId}/members',
  'GET /api/orgs/{orgId}/members/{userId}',
  'POST /api/auth/logout',
];

const cluster = await startClusterWithoutLimits();
const service = cluster.instances[0]!;
const other = cluster.instances.at(-1)!;
const ada = await anAccount(service, 'ada');
const org = await anOrgOf(ada);
const [billing, reports] = [await aServiceClient(cluster.db), await aServiceClient(cluster.db)];
afterAll(() => cluster.stop());

const sessionsOf = async (account: Account) => {
  type Listed = { sessions: { id: string; via: string; service: string | null }[] };
  return (await account.get<Listed>('/api/me/sessions')).body.sessions;
};

describe('a code for one service', () => {
  async function aCodeFor({ name }: ServiceClient, of = ada, pkce: object = {}): Promise<string> {
    const wanted = { ...pkce, audience: name };
    const { status, body, text } = await of.post<{ code: string }>('/api/auth/code', wanted);
    expect(status, text).toBe(201);
    return body.code;
  }

  const redeem = (code: string, authorization?: string, codeVerifier?: string, at = service) => {
    const headers = authorization === undefined ? undefined : { authorization };
    return exchange({ anyone: at.anyone.with({ ...headers }) }, code, { codeVerifier });
  };

  async function aTokenFor(client: ServiceClient, of = ada): Promise<string> {
    const { status, text, body } = await redeem(await aCodeFor(client, of), client.authorization);
    expect(status, text).toBe(200);
    return body.token;
  }

  it('is issued with its expiry, and repeats the service; one without stays as it was', async () => {
    const before = Date.now();
    const bound = await ada.post('/api/auth/code', { audience: billing.name });
    expect(bound).toMatchObject({ status: 201 });
    expect(bound.body).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      audience: billing.name,
    });
    const { expiresAt } = bound.body as { expiresAt: string };
    expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(before + 60_000);
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 60_000);
    const plain = await ada.post('/api/auth/code', {});
    expect(plain.body).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/) });
  });

  it.each([
    ['no service', 'no-such-service'],
    ['text that no service can have', 'Billing'],
    ['an empty text', ''],
    ['a text of 41 characters', 'a'.repeat(41)],
    ['a control character', 'billing\u0000'],
    ['a number', 7],
    ['null', null],
    ['a list', ['billing']],
    ['the value of JWT_AUDIENCE', 'accounts'],
  ])('is not issued for %s', async (_what, audience) => {
    expect(await ada.post('/api/auth/code', { audience })).toMatchObject(invalidFields('audience'));
  });

  it('is not issued for a service that is disabled', async () => {
    const disabled = await aServiceClient(cluster.db);
    await disabled.disable();
    expect(await ada.post('/api/auth/code', { audience: disabled.name })).toMatchObject(
      invalidFields('audience'),
    );
  });

  it('becomes a token for that service, and names it in the list of sessions', async () => {
    const { claims } = decodeToken(await aTokenFor(billing));
    expect(claims).toMatchObject({ aud: billing.name, client_id: billing.name, sub: ada.id });
    const sessions = await sessionsOf(ada);
    const bound = { via: 'code', service: billing.name };
    expect(sessions.find(({ id }) => id === claims['sid'])).toMatchObject(bound);
    expect(sessions.find(({ via }) => via === 'password')).toMatchObject({ service: null });
  });

  it('is neither used nor revoked by the wrong service, by nobody and by wrong credentials', async () => {
    const code = await aCodeFor(billing);
    for (let round = 0; round < 25; round += 1) {
      expect(await redeem(code, reports.authorization)).toMatchObject(invalidCode);
      expect(await redeem(code)).toMatchObject(invalidCode);
      expect(await redeem(code, basic(billing.name, NO_SECRET_OF_ANYBODY))).toMatchObject(invalidClient);
      expect(await redeem(code, basic(reports.name, billing.secret))).toMatchObject(invalidClient);
    }
    const right = await redeem(code, billing.authorization, undefined, other);
    expect(right).toMatchObject({ status: 200, body: { token: aJwt } });
    expect(await redeem(code, reports.authorization)).toMatchObject(invalidCode);
    expect(await redeem(code)).toMatchObject(invalidCode);
    expect((await service.anyone.withToken(right.body.token).get('/api/me')).status).toBe(200);
  });

  it('is found to be used again by its own service alone, which then loses what it opened', async () => {
    const code = await aCodeFor(billing);
    const { token } = (await redeem(code, billing.authorization)).body;
    expect(await redeem(code, billing.authorization)).toMatchObject(invalidCode);
    expect(await service.anyone.withToken(token).get('/api/me')).toMatchObject(invalidToken);
  });

  it('needs its verifier, too, where it has a challenge', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const codeChallenge = createHash('sha256').update(verifier).digest('base64url');
    const code = await aCodeFor(billing, ada, { codeChallenge, codeChallengeMethod: 'S256' });
    expect(await redeem(code, billing.authorization)).toMatchObject(invalidCode);
    expect(await redeem(code, undefined, verifier)).toMatchObject(invalidCode);
    expect(await redeem(code, billing.authorization, verifier)).toMatchObject({ status: 200 });
  });

  it('lets one of 50 exchanges at once open a session, on all instances, beside the wrong service', async () => {
    for (let round = 0; round < 5; round += 1) {
      const code = await aCodeFor(billing);
      const answers = await atOnce(
        times(50, (client) => () => {
          const at = cluster.instances[client % cluster.instances.length]!;
          const { authorization } = client % 5 === 0 ? reports : billing;
          return redeem(code, authorization, undefined, at);
        }),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const answer of refused) expect(answer).toMatchObject(invalidCode);
      expect(new Set(refused.map(({ body }) => JSON.stringify({ ...body, requestId: '' }))).size).toBe(1);
    }
  });

  it('opens nothing here but what its service needs', async () => {
    const bound = service.anyone.withToken(await aTokenFor(billing));
    const { body } = await service.anyone.get<{
      paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
    }>('/openapi.json');
    const routes = Object.entries(body.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { security = [] }]) => security.some((scheme) => 'bearer' in scheme))
        .map(([method]) => ({ name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path })),
    );
    expect(routes.length).toBeGreaterThan(25);
    const open: string[] = [];
    for (const { name, method, path } of routes) {
      const url = path.replace('{orgId}', org.id).replaceAll(/\{\w+\}/g, ada.id);
      if (OPEN_TO_BOUND_TOKENS.includes(name)) {
        open.push(name);
        continue;
      }
      const answer = await bound.sendJson(method, url, method === 'GET' ? undefined : {});
      expect(answer, name).toMatchObject(boundTokenRefused);
      expect(answer.headers.get('www-authenticate'), name).toBe('Bearer error="insufficient_scope"');
    }
    expect(open.toSorted()).toEqual(OPEN_TO_BOUND_TOKENS);
    for (const path of ['/api/me', '/api/me/orgs', `/api/orgs/${org.id}`, `/api/orgs/${org.id}/members`])
      expect((await bound.get(path)).status, path).toBe(200);
    expect((await bound.get(`/api/orgs/${org.id}/members/${ada.id}`)).status).toBe(200);
    expect((await bound.post('/api/auth/logout', {})).status).toBe(200);
    expect(await bound.get('/api/me')).toMatchObject(invalidToken);
  });

  it('is worth nothing once its service is disabled, and what it opened ends for good', async () => {
    const shop = await aServiceClient(cluster.db);
    const [unused, token] = [await aCodeFor(shop), await aTokenFor(shop)];
    const plain = await redeem(await aCode(ada), shop.authorization);
    await shop.disable();
    expect(await redeem(unused, shop.authorization, undefined, other)).toMatchObject(invalidClient);
    expect(await other.anyone.withToken(token).get('/api/me')).toMatchObject(invalidToken);
    expect((await other.anyone.withToken(plain.body.token).get('/api/me')).status).toBe(200);
    await shop.enable();
    expect(await service.anyone.withToken(token).get('/api/me')).toMatchObject(invalidToken);
    const listed = (await sessionsOf(ada)).map(({ id }) => id);
    expect(listed).not.toContain(sessionIdOf({ token }));
    expect((await service.anyone.withToken(await aTokenFor(shop)).get('/api/me')).status).toBe(200);
  });

  it('leaves nothing behind where its exchange waits while the sessions of its service are ended', async () => {
    const [shop, grace] = [await aServiceClient(cluster.db), await anAccount(service, 'grace')];
    // Otherwise the note that the secret was used would wait, too.
    await aTokenFor(shop, grace);
    const code = await aCodeFor(shop, grace);
    const held = await holdRows(service);
    await held.write('UPDATE services SET epoch = epoch + 1 WHERE name = ?', [shop.name]);
    // A new session waits for the row of its user on a server.
    await held.write('UPDATE users SET revision = revision WHERE id = ?', [grace.id]);
    const exchanging = redeem(code, shop.authorization);
    await held.untilOneWaits();
    await held.commit();
    const { body } = await exchanging;
    expect(await other.anyone.withToken(body.token ?? '').get('/api/me')).toMatchObject(invalidToken);
  });

  it('is exchanged with either of two secrets, and no longer with a revoked one', async () => {
    const shop = await aServiceClient(cluster.db);
    const second = await shop.rotate();
    expect((await redeem(await aCodeFor(shop), shop.authorization)).status).toBe(200);
    await shop.revoke(shop.secret);
    const code = await aCodeFor(shop);
    expect(await redeem(code, shop.authorization, undefined, other)).toMatchObject(invalidClient);
    expect((await redeem(code, basic(shop.name, second))).status).toBe(200);
  });
});

describe('a plain code', () => {
  const exchangeAs = (authorization: string, code: string) =>
    exchange({ anyone: service.anyone.with({ authorization }) }, code);

  it.each([
    ['a password of somebody else', basic('proxy', 'a password')],
    ['a token', 'Bearer a.b.c'],
    ['what is no base64', 'Basic %%%'],
    ['a scheme alone', 'Basic'],
    ['a name without a password', basic('billing', '')],
  ])('is exchanged beside an Authorization header with %s', async (_what, authorization) => {
    const { status, body } = await exchangeAs(authorization, await aCode(ada));
    expect(status).toBe(200);
    expect(decodeToken(body.token).claims['aud']).toBe('accounts');
  });

  it('that a service exchanges with its credentials opens a full session, which names the service', async () => {
    const { status, body } = await exchangeAs(billing.authorization, await aCode(ada));
    expect(status).toBe(200);
    const { claims } = decodeToken(body.token);
    expect(claims['aud']).toBe('accounts');
    const sessions = await sessionsOf(ada);
    expect(sessions.find(({ id }) => id === claims['sid'])?.service).toBe(billing.name);
    expect((await service.anyone.withToken(body.token).post('/api/auth/code', {})).status).toBe(201);
  });

  it('is not used up by a secret that is wrong', async () => {
    const code = await aCode(ada);
    const wrong = basic(billing.name, NO_SECRET_OF_ANYBODY);
    expect(await exchangeAs(wrong, code)).toMatchObject(invalidClient);
    expect((await exchange(service, code)).status).toBe(200);
  });
});
