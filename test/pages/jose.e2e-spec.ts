import { createHmac } from 'node:crypto';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anInstallation } from '../support/installation.js';
import { type Account, anAccount } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { aSigningKey, decodeToken, encodePart, signToken } from '../support/signing-keys.js';

const PAGE = readFileSync(resolve('docs/services-http.md'), 'utf8');
const SNIPPET = /^## Verify with a JWT library$.*?^```js\n(.*?)^```$/ms.exec(PAGE)![1]!;
const TEN_MINUTES = 10 * 60_000;

type Part = Record<string, unknown>;
type Verify = (token: string) => Promise<{ sub: string }>;

const installation = await anInstallation();
const port = await freePort();
const service = await startOwnService({
  installation,
  env: { PORT: String(port), JWT_ISSUER: `http://127.0.0.1:${port}` },
});
symlinkSync(resolve('node_modules'), join(installation.directory, 'node_modules'));
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

async function verifierOf(issuer: string, audience = 'accounts'): Promise<Verify> {
  const file = join(installation.directory, `${crypto.randomUUID()}.mjs`);
  const text = SNIPPET.replace('https://accounts.example.com', issuer).replace(
    /(?<=audience: )'accounts'/,
    `'${audience}'`,
  );
  writeFileSync(file, `${text}\nexport { verify };\n`);
  return ((await import(pathToFileURL(file).href)) as { verify: Verify }).verify;
}

describe('jose in docs/services-http.md', () => {
  let verify: Verify;
  let ada: Account;
  let header: Part;
  let claims: Part;
  const key = installation.keys[0]!;

  beforeAll(async () => {
    verify = await verifierOf(service.url);
    ada = await anAccount(service, 'ada');
    ({ header, claims } = decodeToken(ada.token));
  });
  afterEach(() => void vi.useRealTimers());

  const now = (): number => Math.floor(Date.now() / 1000);

  it('accepts a token of the service', async () => {
    expect(await verify(ada.token)).toMatchObject({ sub: ada.id });
    expect(await verify(signToken(header, { ...claims, further: 'claim' }, key))).toMatchObject({
      sub: ada.id,
    });
  });

  it('accepts a token for its own service alone if it names that', async () => {
    const verifyOwn = await verifierOf(service.url, 'billing');
    const bound = signToken(header, { ...claims, aud: 'billing', client_id: 'billing' }, key);
    expect(await verifyOwn(bound)).toMatchObject({ sub: ada.id });
    await expect(verifyOwn(ada.token)).rejects.toThrow('"aud"');
    await expect(verify(bound)).rejects.toThrow('"aud"');
  });

  it.each<[string, () => Part]>([
    ['which has expired', () => ({ exp: now() - 60 })],
    ['for another audience', () => ({ aud: 'billing' })],
    ['for no audience', () => ({ aud: undefined })],
    ['of another issuer', () => ({ iss: 'https://accounts.example.org' })],
    ['of an issuer with a slash more', () => ({ iss: `${service.url}/` })],
    ['of no issuer', () => ({ iss: undefined })],
  ])('refuses a token %s', async (_what, change) => {
    await expect(verify(signToken(header, { ...claims, ...change() }, key))).rejects.toThrow(/claim/);
  });

  it.each<[string, () => string, string]>([
    ['of no access', () => signToken({ ...header, typ: 'JWT' }, claims, key), '"typ"'],
    ['without a type', () => signToken({ ...header, typ: undefined }, claims, key), '"typ"'],
    [
      'of an unknown key',
      () => signToken({ ...header, kid: 'unknown' }, claims, aSigningKey()),
      'no applicable key',
    ],
    ['of another key under a known name', () => signToken(header, claims, aSigningKey()), 'signature'],
    [
      'without a name of its key',
      () => signToken({ ...header, kid: undefined }, claims, aSigningKey()),
      'signature',
    ],
    ['with alg none', () => `${encodePart({ ...header, alg: 'none' })}.${encodePart(claims)}.`, '"alg"'],
    ['with a MAC by the public key', macByPublicKey, '"alg"'],
    [
      'with a changed payload',
      () => ada.token.replace(/\.[^.]+\./, `.${encodePart({ ...claims, sub: 'x' })}.`),
      'signature',
    ],
    ['as text', () => 'text', 'Invalid Compact JWS'],
  ])('refuses a token %s', async (_what, forged, reason) => {
    await expect(verify(forged())).rejects.toThrow(reason);
  });

  it('survives a rotation of the keys', async () => {
    const next = aSigningKey();
    await installation.writeKeys([key, next]);
    await waitFor('the new key is published', hangTimeoutMs(), async () =>
      (await service.anyone.get('/.well-known/jwks.json')).text.includes(next.kid),
    );

    await installation.writeKeys([next, key]);
    await waitFor('the new key signs', hangTimeoutMs(), () =>
      service.logs.some((line) => line.includes(`"signing":"${next.kid}"`)),
    );
    const { email, password } = ada;
    const login = await service.anyone.post<{ token: string }>('/api/auth/login', { email, password });
    expect(decodeToken(login.body.token).header['kid']).toBe(next.kid);
    // A rotation by the book leaves these between the publication of a key and its first signature.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + TEN_MINUTES });

    expect(await verify(login.body.token)).toMatchObject({ sub: ada.id });
    expect(await verify(ada.token)).toMatchObject({ sub: ada.id });
  });

  it('throws a TypeError while the keys cannot be fetched, as services.md says', async () => {
    const unreachable = await verifierOf(`http://127.0.0.1:${await freePort()}`);
    await expect(unreachable(ada.token)).rejects.toBeInstanceOf(TypeError);
  });

  function macByPublicKey(): string {
    const input = `${encodePart({ ...header, alg: 'HS256' })}.${encodePart(claims)}`;
    const pem = key.publicKey.export({ type: 'spki', format: 'pem' });
    return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
  }
});
