import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { ProviderRefusal } from '../../src/auth/providers/claims.js';
import { isAllowedEndpoint, ProviderFetch } from '../../src/auth/providers/provider-fetch.js';
import type { Problem } from '../../src/problems/problem.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { atOnce, times } from '../support/at-once.js';
import { Authority } from '../support/certificates.js';
import { aProviderClient, accessTo, logInAt } from '../support/provider-logins.js';
import { type Endpoint, RecordedProvider } from '../support/recorded-provider.js';

const ENDPOINTS: Endpoint[] = ['metadata', 'keys', 'token', 'userInfo'];
/** of one provider: three quarters of all */
const SLOTS = 12;

const started: { stop(): void }[] = [];
afterAll(() => started.forEach((server) => server.stop()));

async function okta(): Promise<RecordedProvider> {
  const provider = await RecordedProvider.play('okta');
  started.push(provider);
  return provider;
}

const logIn = (provider: RecordedProvider, client = aProviderClient()): ReturnType<typeof logInAt> =>
  logInAt(client, accessTo(provider), (url) => provider.authorize(url));

/** Where it fails: discovery by an exception at the start, the others at the callback. */
async function reasonOf(login: ReturnType<typeof logInAt>): Promise<string> {
  const failure = (await login.catch((error: unknown) => error)) as Partial<Problem & ProviderRefusal>;
  expect(failure.code ?? failure.error).toBe('provider_unavailable');
  return failure.reason ?? failure.options!.reason!;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const PADDING = ' '.repeat(300 * 1024);

const ANSWERS: [string, (response: ServerResponse) => void, string | RegExp][] = [
  [
    '302 to another host',
    (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    'status 302',
  ],
  ['307 to itself', (response) => response.writeHead(307, { location: '/' }).end(), 'status 307'],
  ['500', (response) => response.writeHead(500, JSON_TYPE).end('{}'), /status 500$/],
  [
    'an HTML page',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    /content-type/,
  ],
  [
    'half an answer',
    (response) =>
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '99' }).write('{', () => response.destroy()),
    /^UND_ERR_SOCKET$|^ECONNRESET$/,
  ],
  ['a reset', (response) => response.socket!.resetAndDestroy(), /^UND_ERR_SOCKET$|^ECONNRESET$/],
  ['300 KiB', (response) => response.writeHead(200, JSON_TYPE).end(`{}${PADDING}`), 'more than 256 KiB'],
  [
    '300 KiB in 300 bytes',
    (response) =>
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(gzipSync(PADDING)),
    'more than 256 KiB',
  ],
  ['no JSON', (response) => response.writeHead(200, JSON_TYPE).end('{"a":'), /parse/],
  ['nothing', (response) => response.writeHead(204).end(), /./],
];

describe.each(ENDPOINTS)('%s', (endpoint) => {
  it.each(ANSWERS)('fails the login if it answers with %s', async (_, answer, reason) => {
    const provider = await okta();
    provider.answers[endpoint] = answer;
    expect(await reasonOf(logIn(provider))).toMatch(reason);
  });

  it('is asked without cookies and traces, and is not named in a reason', async () => {
    const provider = await okta();
    expect(await logIn(provider)).toMatchObject({ kind: 'accepted' });
    const { headers } = provider.requests.find((request) => request.endpoint === endpoint)!;
    expect(
      Object.keys(headers).filter((name) => /cookie|trace|request-id|referer|forwarded/.test(name)),
    ).toEqual([]);
  });
});

it('waits 3 s for an answer, and for each byte of it', async () => {
  const silent = ENDPOINTS.map((endpoint) => [endpoint, () => undefined] as const);
  const slow = ENDPOINTS.map((endpoint) => {
    const drip = (response: ServerResponse): void => {
      response.writeHead(200, JSON_TYPE);
      const timer = setInterval(() => response.write(' '), 50);
      response.once('close', () => clearInterval(timer));
    };
    return [endpoint, drip] as const;
  });
  const reasons = await Promise.all(
    [...silent, ...slow].map(async ([endpoint, answer]) => {
      const provider = await okta();
      provider.answers[endpoint] = answer;
      return reasonOf(logIn(provider));
    }),
  );
  expect(new Set(reasons)).toEqual(new Set(['no answer in time']));
});

it('waits no longer than the login that asks', async () => {
  const provider = await okta();
  provider.answers.metadata = () => undefined;
  const { issuer } = provider;
  const request = new ProviderFetch(false).until(performance.now() + 200.5, issuer);
  const url = `${issuer}/.well-known/openid-configuration`;
  await expect(request(url, {})).rejects.toThrow('no answer in time');
  await expect(request(url, {}), 'after it').rejects.toThrow('no answer in time');
  expect(provider.count('metadata')).toBe(1);
});

describe('https', () => {
  it.each([
    ['https://id.example.com', true, true],
    ['https://10.0.0.1:8443/', true, true],
    ['http://127.0.0.1:8080', true, false],
    ['http://[::1]:8080', true, false],
    ['http://localhost:8080', true, false],
    ['http://localhost.example.com', false, false],
    ['http://127.0.0.1@id.example.com/', false, false],
    ['http://id.example.com', false, false],
    ['http://169.254.169.254/latest/', false, false],
    ['ftp://127.0.0.1/', false, false],
    ['data:application/json,{}', false, false],
    ['id.example.com', false, false],
  ])('%s is allowed: outside production %s, there %s', (url, outside, inProduction) => {
    expect([isAllowedEndpoint(url, false), isAllowedEndpoint(url, true)]).toEqual([outside, inProduction]);
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
    'is needed for %s of the metadata',
    async (name) => {
      const provider = await okta();
      const { metadata } = provider.recording;
      const reason = 'an endpoint of the metadata is absent or not https';
      for (const url of ['http://169.254.169.254/', 'javascript:alert(1)', '//id.example.com/', 7, null]) {
        const changed = { ...metadata, [name]: url };
        provider.answers.metadata = (response) =>
          response.writeHead(200, JSON_TYPE).end(JSON.stringify(changed));
        expect(await reasonOf(logIn(provider)), String(url)).toBe(reason);
      }
      expect(provider.count('token')).toBe(0);
    },
  );

  it('is needed for the issuer', async () => {
    const provider = { ...(await okta()), issuer: 'http://id.example.com', clientId: 'a', secret: 's' };
    const access = accessTo(provider);
    const result = await aProviderClient().test(access);
    expect(result).toMatchObject({
      issuer: undefined,
      discovery: { ok: false, reason: 'the endpoint is not https' },
    });
  });

  it('needs a certificate of an authority that the process trusts', async () => {
    const { certificate, key } = await (await Authority.create('Unknown')).issue('DNS:localhost');
    const provider = await RecordedProvider.play('okta', {
      cert: readFileSync(certificate),
      key: readFileSync(key),
    });
    started.push(provider);
    expect(await reasonOf(logIn(provider))).toMatch(/CERT|SIGNATURE/);
    expect(provider.requests).toEqual([]);
  });
});

describe('discovery', () => {
  it('is one request for logins at once and for later ones', async () => {
    const provider = await okta();
    const client = aProviderClient();
    await atOnce(times(20, () => () => logIn(provider, client)));
    expect(await logIn(provider, client)).toMatchObject({ kind: 'accepted' });
    expect([provider.count('metadata'), provider.count('keys'), provider.count('token')]).toEqual([1, 1, 21]);
  });

  it('is not repeated at once after a failure, except by the test of operators', async () => {
    const provider = await okta();
    const client = aProviderClient();
    provider.answers.metadata = (response) => response.writeHead(503).end();
    const reasons = await Promise.all(times(20, () => reasonOf(logIn(provider, client))));
    expect(new Set(reasons).size).toBe(1);
    provider.answers = {};
    await expect(logIn(provider, client)).rejects.toMatchObject({
      code: 'provider_unavailable',
      headers: { 'Retry-After': '10' },
    });
    expect(provider.count('metadata')).toBe(1);
    expect(await client.test(accessTo(provider))).toMatchObject({ client: { ok: true } });
  });

  it('of one issuer does not answer for another', async () => {
    const provider = await okta();
    const other = await okta();
    provider.answers.metadata = (response) =>
      response.writeHead(200, JSON_TYPE).end(JSON.stringify(other.recording.metadata));
    expect(await reasonOf(logIn(provider))).toMatch(/issuer/);
  });
});

describe('a provider that hangs', () => {
  it('holds three quarters of the slots, so that other providers go on', async () => {
    const client = aProviderClient();
    const hanging = await okta();
    const held: ServerResponse[] = [];
    hanging.answers.token = (response) => void held.push(response);
    const logins = times(SLOTS + 10, () => reasonOf(logIn(hanging, client)));
    await waitFor('the slots are taken', hangTimeoutMs(), () => held.length === SLOTS);

    const others = await Promise.all([okta(), okta()]);
    for (const other of others) expect(await logIn(other, client)).toMatchObject({ kind: 'accepted' });
    expect(held.length, 'while others log in').toBe(SLOTS);
    for (const response of held) response.destroy();
    await waitFor('the others have slots', hangTimeoutMs(), () => held.length === SLOTS + 10);
    for (const response of held) response.destroy();
    expect(await Promise.all(logins)).toHaveLength(SLOTS + 10);
  });
});

describe('the test of operators', () => {
  const tested = async (change: (provider: RecordedProvider) => void, env = {}): Promise<object> => {
    const provider = await okta();
    change(provider);
    return aProviderClient(env).test(accessTo(provider));
  };
  const client = (reason: string): object => ({ discovery: { ok: true }, client: { ok: false, reason } });
  const tokens = (status: number, body: object) => (provider: RecordedProvider) => {
    provider.answers.token = (response) => response.writeHead(status, JSON_TYPE).end(JSON.stringify(body));
  };

  it('refuses a wrong client or secret', async () => {
    expect(await tested(tokens(401, { error: 'invalid_client' }))).toMatchObject(
      client('the token endpoint answered invalid_client'),
    );
  });

  it('refuses a token endpoint that accepts a made-up code', async () => {
    expect(await tested(tokens(200, { access_token: 'a', token_type: 'Bearer' }))).toMatchObject(
      client('"response" body "id_token" property must be a string'),
    );
  });

  it('needs an issuer of Accounts that is a URL', async () => {
    expect(await tested(() => undefined, { JWT_ISSUER: 'accounts' })).toMatchObject(
      client('JWT_ISSUER is not a URL'),
    );
  });

  it('reads metadata of wrong types as announcing nothing', async () => {
    const result = tested(({ recording }) => Object.assign(recording.metadata, { claims_supported: 7 }));
    expect(await result).toMatchObject({ client: { ok: true }, announcesEmailVerified: false });
  });

  it.each([
    ['none', { keys: [] }],
    ['one for encryption only', { keys: [{ kty: 'RSA', use: 'enc' }] }],
    ['no list', { keys: {} }],
  ])('needs a key for signatures: %s', async (_, keys) => {
    const result = await tested((provider) => {
      provider.answers.keys = (response) => response.writeHead(200, JSON_TYPE).end(JSON.stringify(keys));
    });
    expect(result).toMatchObject({
      keys: { ok: false, reason: 'no key for signatures' },
      client: { ok: true },
    });
  });
});

it('sends the secret in a header to a provider that announces nothing else', async () => {
  const provider = await okta();
  delete provider.recording.metadata['token_endpoint_auth_methods_supported'];
  expect(await logIn(provider)).toMatchObject({ kind: 'accepted' });
  const { headers, body } = provider.requests.find(({ endpoint }) => endpoint === 'token')!;
  expect(headers.authorization).toMatch(/^Basic /);
  expect(body.has('client_secret')).toBe(false);
});

it('follows no redirect to a server that listens', async () => {
  let asked = 0;
  const canary = createServer((_, response) => {
    asked += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(canary, 'listening');
  const location = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/`;
  for (const endpoint of ENDPOINTS) {
    const provider = await okta();
    provider.answers[endpoint] = (response) => response.writeHead(302, { location }).end();
    expect(await reasonOf(logIn(provider))).toBe('status 302');
  }
  canary.close();
  expect(asked).toBe(0);
});
