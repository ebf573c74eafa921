import { createHmac } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { aProviderClient, accessTo, logInAt } from '../support/provider-logins.js';
import { byAnotherKey, RecordedProvider } from '../support/recorded-provider.js';

const started: RecordedProvider[] = [];
afterAll(() => started.forEach((provider) => provider.stop()));
afterEach(() => void vi.useRealTimers());

type Change = (provider: RecordedProvider) => unknown;

/** Keycloak announces most: `iss`, HS256, and an encryption key. */
async function logInWith(change: Change, response = {}): ReturnType<typeof logInAt> {
  const provider = await RecordedProvider.play('keycloak');
  started.push(provider);
  change(provider);
  const authorize = (url: string): URL => provider.authorize(url);
  return logInAt(aProviderClient(), accessTo(provider), authorize, response);
}

const claims =
  (values: object): Change =>
  ({ recording }) =>
    Object.assign(recording.idToken, values);
const header =
  (values: object): Change =>
  ({ recording }) =>
    Object.assign(recording.header, values);
const signed =
  (values: object, sign: (provider: RecordedProvider) => (input: string) => string): Change =>
  (provider) => {
    Object.assign(provider.recording.header, values);
    provider.sign = sign(provider);
  };
const tokens =
  (values: object): Change =>
  (provider) => {
    provider.answers.token = (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ access_token: 'a', token_type: 'Bearer', ...values }));
  };
const times =
  (values: object): Change =>
  ({ recording }) =>
    Object.assign(recording.times, values);

const hs256 =
  ({ secret }: RecordedProvider) =>
  (input: string): string =>
    createHmac('sha256', secret).update(input).digest('base64url');

const VERIFIES: [string, Change][] = [
  ['as the provider sends it', () => undefined],
  ['for us in a list', claims({ aud: ['accounts'] })],
  ['for us and others, authorized for us', claims({ aud: ['other', 'accounts'], azp: 'accounts' })],
  ['without the id of its key', ({ recording }) => delete recording.header['kid']],
  ['of a subject of 255 characters', claims({ sub: 's'.repeat(255) })],
];

const VERIFIES_NOT: [string, Change][] = [
  ['another issuer', claims({ iss: 'https://id.example.com/realms/other' })],
  [
    'the issuer in another case',
    ({ recording }) => Object.assign(recording.idToken, { iss: recording.metadata.issuer.toUpperCase() }),
  ],
  ['another audience', claims({ aud: 'other' })],
  ['a list of other audiences', claims({ aud: ['other', 'another'], azp: 'accounts' })],
  [
    'a list with us and others, authorized for nobody',
    claims({ aud: ['accounts', 'other'], azp: undefined }),
  ],
  ['a list with us and others, authorized for others', claims({ aud: ['accounts', 'other'], azp: 'other' })],
  ['no audience', claims({ aud: null })],
  ['the nonce of another login', claims({ nonce: 'nonce of another login' })],
  ['no nonce', claims({ nonce: undefined })],
  ['no signature', signed({ alg: 'none' }, () => () => '')],
  ['an empty signature', signed({}, () => () => '')],
  ['a signature by our secret', signed({ alg: 'HS256' }, hs256)],
  ['a signature by another key', signed({}, () => byAnotherKey)],
  [
    'a signature by the encryption key',
    signed({ kid: 'Yx0sQ9mCzjVpGd1sB7dZQv5G3pZrj0jPpF2uL7l5hXo' }, () => byAnotherKey),
  ],
  ['an unknown key', header({ kid: 'unknown' })],
  ['the key of another algorithm', header({ alg: 'PS256' })],
  ['an unknown extension that is critical', header({ crit: ['b64'], b64: false })],
  ['a text as iat', claims({ iat: '1795000000' })],
  ['no iat', claims({ iat: undefined })],
  ['a text as exp', claims({ exp: '1795000000' })],
  ['no exp', claims({ exp: undefined })],
  ['an empty subject', claims({ sub: '' })],
  ['a subject of 256 characters', claims({ sub: 's'.repeat(256) })],
  ['a number as subject', claims({ sub: 7 })],
  ['a text as auth_time', claims({ auth_time: '1795000000' })],
  ['no ID token', tokens({})],
  ['an encrypted ID token', tokens({ id_token: 'a.b.c.d.e' })],
  ['an ID token that is none', tokens({ id_token: 'token' })],
  ['an object as ID token', tokens({ id_token: {} })],
  ['no access token', tokens({ access_token: undefined })],
  ['tokens of another type', tokens({ token_type: 'mac' })],
];

describe('an ID token verifies', () => {
  it.each(VERIFIES)('%s', async (_, change) => {
    expect(await logInWith(change)).toMatchObject({ kind: 'accepted' });
  });
});

describe('an ID token does not verify with', () => {
  it.each(VERIFIES_NOT)('%s', async (_, change) => {
    const result = await logInWith(change);
    expect(result).toEqual({
      kind: 'refused',
      error: 'provider_unavailable',
      reason: expect.stringMatching(/^(?!clock|TypeError|no answer)./) as string,
    });
  });
});

describe('the clock of the provider', () => {
  it.each([
    ['exp', -29, 'accepted'],
    ['exp', -31, 'refused'],
    ['nbf', 29, 'accepted'],
    ['nbf', 31, 'refused'],
    ['iat', 40, 'accepted'],
    ['auth_time', 40, 'accepted'],
  ])('with %s %d s from ours: %s', async (claim, seconds, kind) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const result = await logInWith(times({ [claim]: seconds }));
    const clock = { error: 'provider_unavailable', reason: expect.stringMatching(/^clock: /) as string };
    expect(result).toEqual(expect.objectContaining({ kind, ...(kind === 'refused' && clock) }));
  });
});

it('measures maxAge from the start of the login', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  const change = times({ auth_time: -600 });
  expect(await logInWith(change, { maxAge: 60, startedAt: Date.now() - 511_000 })).toMatchObject({
    kind: 'accepted',
  });
  expect(await logInWith(change, { maxAge: 60, startedAt: Date.now() - 500_000 })).toMatchObject({
    kind: 'refused',
    error: 'insufficient_user_authentication',
  });
});

describe('UserInfo', () => {
  const PLAIN = { 'content-type': 'application/json' };
  const JWT = { 'content-type': 'application/jwt' };
  const SUB = 'f4c2a3f0-9c2d-4a9c-8a55-9d3e9f1f4c0d';
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const jwt = (alg: string, kid: string, sign: (input: string) => string): string => {
    const input = `${part({ alg, kid })}.${part({ sub: SUB, email: 'ada@example.com', email_verified: true })}`;
    return `${input}.${sign(input)}`;
  };
  const answer =
    (status: number, headers: Record<string, string>, body: (provider: RecordedProvider) => string): Change =>
    (provider) => {
      delete provider.recording.idToken['email'];
      provider.answers.userInfo = (response) => response.writeHead(status, headers).end(body(provider));
    };
  const kidOf = ({ recording }: RecordedProvider): string => recording.header['kid'] as string;

  it.each([
    [
      'in plain',
      answer(200, PLAIN, () => JSON.stringify({ sub: SUB, email: 'ada@example.com', email_verified: true })),
    ],
    ['signed', answer(200, JWT, (provider) => jwt('RS256', kidOf(provider), provider.sign))],
  ])('names the email, %s', async (_, change) => {
    expect(await logInWith(change)).toMatchObject({
      kind: 'accepted',
      email: 'ada@example.com',
      emailVerified: true,
    });
  });

  it.each([
    [
      'of another subject',
      answer(200, PLAIN, () => JSON.stringify({ sub: 'eve', email: 'ada@example.com' })),
    ],
    ['without a subject', answer(200, PLAIN, () => JSON.stringify({ email: 'ada@example.com' }))],
    ['signed by another key', answer(200, JWT, (provider) => jwt('RS256', kidOf(provider), byAnotherKey))],
    ['signed by our secret', answer(200, JWT, (provider) => jwt('HS256', kidOf(provider), hs256(provider)))],
    ['not signed', answer(200, JWT, (provider) => jwt('none', kidOf(provider), () => ''))],
    ['as a list', answer(200, PLAIN, () => '[]')],
    ['as HTML', answer(200, { 'content-type': 'text/html' }, () => '<p>Log in</p>')],
    ['cut off', answer(200, PLAIN, () => '{"sub":"')],
    ['with status 403', answer(403, PLAIN, () => '{}')],
    [
      'with a challenge',
      answer(401, { ...PLAIN, 'www-authenticate': 'Bearer error="invalid_token"' }, () => '{}'),
    ],
  ])('fails the login: %s', async (_, change) => {
    expect(await logInWith(change)).toMatchObject({ kind: 'refused', error: 'provider_unavailable' });
  });
});

describe('the token endpoint', () => {
  const answer =
    (status: number, body: string, headers: Record<string, string> = {}): Change =>
    (provider) => {
      provider.answers.token = (response) =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    };

  it('refuses a code that was used', async () => {
    expect(await logInWith(answer(400, '{"error":"invalid_grant"}'))).toEqual({ kind: 'code_used' });
  });

  it.each([
    [
      'another error',
      answer(400, '{"error":"invalid_client"}'),
      'the token endpoint answered invalid_client',
    ],
    [
      'an error of many words',
      answer(400, '{"error":"secret <b>\\n"}'),
      'the token endpoint answered no word',
    ],
    ['a challenge', answer(401, '{}', { 'www-authenticate': 'Basic realm="id"' }), 'status 401'],
    [
      'a fault',
      answer(500, '{"error":"invalid_grant"}'),
      expect.stringMatching(/Token Endpoint.*, status 500$/),
    ],
  ])('answers with %s', async (_, change, reason) => {
    expect(await logInWith(change)).toEqual({ kind: 'refused', error: 'provider_unavailable', reason });
  });
});

describe('the callback', () => {
  const back =
    (change: (parameters: URLSearchParams) => void): Change =>
    (provider) => {
      const authorize = provider.authorize.bind(provider);
      provider.authorize = (url) => {
        const callback = authorize(url);
        change(callback.searchParams);
        return callback;
      };
    };

  it.each([
    ['access_denied', 'provider_denied'],
    ['login_required', 'provider_denied'],
    ['<script>', 'provider_denied'],
    ['server_error', 'provider_unavailable'],
    ['temporarily_unavailable', 'provider_unavailable'],
  ])('has the error %s', async (error, code) => {
    const description = '<script>alert(1)</script>';
    const result = await logInWith(
      back((parameters) => {
        parameters.delete('code');
        parameters.set('error', error);
        parameters.set('error_description', description);
      }),
    );
    expect(result).toMatchObject({ kind: 'refused', error: code });
    expect(JSON.stringify(result)).not.toContain('<');
  });

  it.each<[string, (parameters: URLSearchParams) => void]>([
    ['no state', (parameters) => parameters.delete('state')],
    ['two states', (parameters) => parameters.append('state', parameters.get('state')!)],
    ['two codes', (parameters) => parameters.append('code', 'another')],
    ['an ID token', (parameters) => parameters.set('id_token', 'a.b.c')],
    ['a response in a JWT', (parameters) => parameters.set('response', 'a.b.c')],
    ['no code', (parameters) => parameters.delete('code')],
  ])('has %s', async (_, change) => {
    expect(await logInWith(back(change))).toMatchObject({ kind: 'refused', error: 'provider_unavailable' });
  });
});
