import { createHmac, createPublicKey, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invalidToken } from '../support/expected.js';
import { anAccount, anUnknownId } from '../support/personas.js';
import { startService } from '../support/service.js';
import { aSigningKey, decodeToken, encodePart, signToken } from '../support/signing-keys.js';

type Part = Record<string, unknown>;

const service = await startService();
const ada = await anAccount(service, 'ada');
const key = service.installation.keys[0]!;
const { header, claims } = decodeToken(ada.token);
afterAll(() => service.stop());

describe('a forged token', () => {
  const now = (): number => Math.floor(Date.now() / 1000);
  const send = (token: string) => service.anyone.with({ authorization: `Bearer ${token}` }).get('/api/me');

  /** Twice, because a verified token is remembered: one that was refused must not be. */
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

  it.each<[string, () => Part]>([
    ['exp missing', () => ({ exp: undefined })],
    ['exp as text', () => ({ exp: String(now() + 60) })],
    ['exp null', () => ({ exp: null })],
    ['exp true', () => ({ exp: true })],
    ['exp in an array', () => ({ exp: [now() + 60] })],
    ['exp past the leeway', () => ({ exp: now() - 31 })],
    ['exp negative', () => ({ exp: -1 })],
    ['iat in the future', () => ({ iat: now() + 86_400, exp: now() + 90_000 })],
    ['iat past the leeway', () => ({ iat: now() + 60 })],
    ['iat missing', () => ({ iat: undefined })],
    ['iat as text', () => ({ iat: String(now()) })],
    ['jti missing', () => ({ jti: undefined })],
    ['auth_time missing', () => ({ auth_time: undefined })],
    ['auth_time as text', () => ({ auth_time: String(now()) })],
    ['nbf in the future', () => ({ nbf: now() + 120 })],
    ['iss of another', () => ({ iss: 'somebody' })],
    ['iss missing', () => ({ iss: undefined })],
    ['iss in an array', () => ({ iss: ['accounts'] })],
    ['iss with a slash', () => ({ iss: 'accounts/' })],
    ['aud of another', () => ({ aud: 'shop' })],
    ['aud missing', () => ({ aud: undefined })],
    ['aud as a longer text', () => ({ aud: 'accounts-admin' })],
    ['aud as a part', () => ({ aud: 'account' })],
    ['aud empty', () => ({ aud: '' })],
    ['sub missing', () => ({ sub: undefined })],
    ['sub null', () => ({ sub: null })],
    ['sub a number', () => ({ sub: 1 })],
    ['sub an object', () => ({ sub: {} })],
    ['sub in an array', () => ({ sub: [ada.id] })],
    ['sub of another shape', () => ({ sub: 'ada' })],
    ['sub in capitals', () => ({ sub: ada.id.toUpperCase() })],
    ['sub with a space', () => ({ sub: `${ada.id} ` })],
    ['sub of nobody', () => ({ sub: anUnknownId() })],
    ['sub an e-mail', () => ({ sub: ada.email })],
    ['sid missing', () => ({ sid: undefined })],
    ['sid null', () => ({ sid: null })],
    ['sid an object', () => ({ sid: { $ne: '' } })],
    ['sid in an array', () => ({ sid: [claims['sid']] })],
    ['sid zero', () => ({ sid: 0 })],
    ['sid of no session', () => ({ sid: anUnknownId() })],
    ['sid in capitals', () => ({ sid: String(claims['sid']).toUpperCase() })],
  ])('is refused with %s', async (_what, change) => {
    expect(await tryToken(signToken(header, { ...claims, ...change() }, key))).toMatchObject(invalidToken);
  });

  it('is refused when its lifetime exceeds the maximum', async () => {
    const longest = await tryToken(signToken(header, { ...claims, exp: 1e30 }, key));
    const long = await tryToken(signToken(header, { ...claims, exp: now() + 10 * 365 * 86_400 }, key));

    expect(longest).toMatchObject(invalidToken);
    expect(long).toMatchObject(invalidToken);
  });

  it('is accepted within the leeway', async () => {
    expect((await tryToken(signToken(header, { ...claims, exp: now() - 5 }, key))).status).toBe(200);
  });

  it("is refused when it names another user's session", async () => {
    const eve = await anAccount(service, 'eve');

    const token = signToken(header, { ...decodeToken(eve.token).claims, sub: ada.id }, key);

    expect(await tryToken(token)).toMatchObject(invalidToken);
  });

  it.each<[string, () => Part]>([
    ['typ missing', () => ({ typ: undefined })],
    ['typ JWT', () => ({ typ: 'JWT' })],
    ['typ of another token', () => ({ typ: 'code+jwt' })],
    ['typ in an array', () => ({ typ: ['at+jwt'] })],
    ['typ null', () => ({ typ: null })],
    ['crit', () => ({ crit: ['x'] })],
    ['crit with the extension', () => ({ crit: ['x'], x: true })],
    ['an empty crit', () => ({ crit: [] })],
    ['crit with b64', () => ({ crit: ['b64'], b64: false })],
    ['alg none', () => ({ alg: 'none' })],
    ['alg nOnE', () => ({ alg: 'nOnE' })],
    ['alg HS256', () => ({ alg: 'HS256' })],
    ['alg ES384', () => ({ alg: 'ES384' })],
    ['alg RS256', () => ({ alg: 'RS256' })],
    ['alg es256', () => ({ alg: 'es256' })],
    ['alg missing', () => ({ alg: undefined })],
    ['alg null', () => ({ alg: null })],
    ['alg in an array', () => ({ alg: ['ES256'] })],
    ['kid missing', () => ({ kid: undefined })],
    ['kid unknown', () => ({ kid: randomUUID() })],
    ['kid a path', () => ({ kid: '../../dev/null' })],
    ['kid with SQL', () => ({ kid: "' OR 1=1 --" })],
    ['kid of 4 kB', () => ({ kid: 'k'.repeat(4096) })],
    ['kid a number', () => ({ kid: 0 })],
    ['kid null', () => ({ kid: null })],
    ['kid an object', () => ({ kid: { toString: 'x' } })],
    ['kid in an array', () => ({ kid: [key.kid] })],
    ['kid __proto__', () => ({ kid: '__proto__' })],
    ['kid constructor', () => ({ kid: 'constructor' })],
  ])('is refused with the header %s', async (_what, change) => {
    expect(await tryToken(signToken({ ...header, ...change() }, claims, key))).toMatchObject(invalidToken);
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
    const eve = await anAccount(service, 'eve');
    const [head, , signature] = eve.token.split('.');

    expect(await tryToken(`${head}.${ada.token.split('.')[1]}.${signature}`)).toMatchObject(invalidToken);
  });

  it('is refused when signed by another key under a known kid', async () => {
    expect(await tryToken(signToken(header, claims, aSigningKey()))).toMatchObject(invalidToken);
  });

  it('is refused when the public key serves as an HMAC secret', async () => {
    const publicKey = createPublicKey(key.publicKey.export({ format: 'pem', type: 'spki' }));
    const secrets = [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(publicKey.export({ format: 'jwk' })),
    ];
    for (const [alg, hash] of [
      ['HS256', 'sha256'],
      ['HS512', 'sha512'],
    ] as const) {
      for (const secret of secrets) {
        const input = `${encodePart({ ...header, alg })}.${encodePart(claims)}`;
        const signature = createHmac(hash, secret).update(input).digest('base64url');
        expect(await tryToken(`${input}.${signature}`)).toMatchObject(invalidToken);
      }
    }
  });

  describe('with a key of its own', () => {
    let listener: Server;
    let connections = 0;
    let listenerUrl: string;

    beforeAll(async () => {
      listener = createServer((_request, response) => response.end(JSON.stringify({ keys: [] })));
      listener.on('connection', () => (connections += 1));
      await new Promise<void>((ready) => listener.listen(0, '127.0.0.1', ready));
      listenerUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    });
    afterAll(() => listener.close());

    it('is refused, and nothing is fetched', async () => {
      const own = aSigningKey();
      const jwk = own.publicKey.export({ format: 'jwk' });

      for (const change of [
        { jwk },
        { jwk, kid: undefined },
        { jku: listenerUrl, kid: own.kid },
        { jku: listenerUrl },
        { x5u: listenerUrl },
        { x5c: ['MIIB'] },
      ]) {
        expect(await tryToken(signToken({ ...header, ...change }, claims, own))).toMatchObject(invalidToken);
      }
      expect(connections).toBe(0);
    });
  });
});

function otherFirst(text: string): string {
  return (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
}
