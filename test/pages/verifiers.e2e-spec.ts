import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../tooling/servers/free-port.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { aSigningKey, decodeToken, encodePart, signToken, type SigningKey } from '../support/signing-keys.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/services.md'), 'utf8');
const CHAPTER = /^## Verify tokens$.*?(?=^## )/ms.exec(PAGE)![0];
const SNIPPETS = [...CHAPTER.matchAll(/^```js\n(.*?)^```$/gms)].map(([, snippet]) => snippet!);
const LIBRARIES = ['jose', 'jwks-rsa', '@fastify/jwt', 'express-oauth2-jwt-bearer'] as const;

type Part = Record<string, unknown>;

interface FastifyApp {
  inject(request: object): Promise<{ statusCode: number; json(): { id?: string } }>;
}

/** A snippet defines one of these. */
interface Snippet {
  verify?: (token: string) => Promise<{ sub: string }>;
  app?: FastifyApp | RequestListener;
}

/** The id of the user whose token it accepts, or `refused`. */
type Verifier = (token: string) => Promise<string>;

const REFUSED = 'refused';
const TEN_MINUTES = 10 * 60_000;

describe('a verifier of docs/services.md', () => {
  let installation: Installation;
  let service: Instance;
  let ada: Account;
  let key: SigningKey;
  let header: Part;
  let claims: Part;
  const servers: Server[] = [];

  beforeAll(async () => {
    installation = await anInstallation();
    await symlink(join(ROOT, 'node_modules'), join(installation.directory, 'node_modules'));
    const port = await freePort();
    service = await startOwnService({
      installation,
      env: { PORT: String(port), JWT_ISSUER: `http://127.0.0.1:${port}` },
    });
    ada = await anAccount(service, 'ada');
    key = installation.keys[0]!;
    ({ header, claims } = decodeToken(ada.token));
  });
  afterEach(() => void vi.useRealTimers());
  afterAll(async () => {
    for (const server of servers) server.close();
    await service.stop();
    await installation.remove();
  });

  const now = (): number => Math.floor(Date.now() / 1000);
  const verifiers = new Map<string, Verifier>();

  /** The same for all cases, as in a service: the keys that it has fetched stay. */
  async function verifierBy(library: string): Promise<Verifier> {
    const known = verifiers.get(library) ?? (await newVerifier(library));
    verifiers.set(library, known);
    return known;
  }

  const newVerifier = async (library: string) => asVerifier(await snippetBy(library, service.url));

  async function snippetBy(library: string, issuer: string, audience = 'accounts'): Promise<Snippet> {
    const snippet = SNIPPETS.find((text) => text.includes(`from '${library}'`))!;
    const name = /^(?:async function|const) (verify|app)\b/m.exec(snippet)![1]!;
    const { port } = new URL(issuer);
    const file = join(installation.directory, `${library.replaceAll(/\W/g, '-')}-${audience}-${port}.mjs`);
    const text = snippet
      .replace('https://accounts.example.com', issuer)
      .replace(/(?<=(?:audience|allowedAud): )'accounts'/, `'${audience}'`);
    await writeFile(file, `${text}\nexport { ${name} };\n`);
    return (await import(pathToFileURL(file).href)) as Snippet;
  }

  async function asVerifier({ verify, app }: Snippet): Promise<Verifier> {
    if (verify) {
      return (token) =>
        verify(token).then(
          ({ sub }) => sub,
          () => REFUSED,
        );
    }
    if (typeof app === 'object') {
      return async (token) => {
        const answer = await app.inject({ url: '/whoami', headers: { authorization: `Bearer ${token}` } });
        return answerOf(answer.statusCode, answer.json());
      };
    }
    const server = createServer(app).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((listening) => server.once('listening', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/whoami`;
    return async (token) => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      return answerOf(answer.status, answer.ok ? ((await answer.json()) as { id: string }) : {});
    };
  }

  it('is there for each library', () => {
    expect(SNIPPETS).toHaveLength(LIBRARIES.length);
  });

  describe.each(LIBRARIES)('by %s', (library) => {
    it('accepts a token of the service', async () => {
      const verify = await verifierBy(library);

      expect(await verify(ada.token)).toBe(ada.id);
      expect(await verify(signToken(header, { ...claims, further: 'claim' }, key))).toBe(ada.id);
    });

    it('accepts a token for its own service alone where it names that', async () => {
      const verify = await asVerifier(await snippetBy(library, service.url, 'billing'));
      const bound = signToken(header, { ...claims, aud: 'billing', client_id: 'billing' }, key);

      expect(await verify(bound)).toBe(ada.id);
      expect(await verify(ada.token)).toBe(REFUSED);
      expect(await (await verifierBy(library))(bound)).toBe(REFUSED);
    });

    it.each<[string, () => Part]>([
      ['which has expired', () => ({ exp: now() - 60 })],
      ['for another audience', () => ({ aud: 'billing' })],
      ['for nobody', () => ({ aud: undefined })],
      ['of another issuer', () => ({ iss: 'https://accounts.example.org' })],
      ['of an issuer with a slash more', () => ({ iss: `${service.url}/` })],
      ['of no issuer', () => ({ iss: undefined })],
    ])('refuses a token %s', async (_what, change) => {
      const verify = await verifierBy(library);

      expect(await verify(signToken(header, { ...claims, ...change() }, key))).toBe(REFUSED);
    });

    it.each<[string, () => string]>([
      ['of no access', () => signToken({ ...header, typ: 'JWT' }, claims, key)],
      ['without a type', () => signToken({ ...header, typ: undefined }, claims, key)],
      ['of an unknown key', () => signToken({ ...header, kid: 'unknown' }, claims, aSigningKey())],
      ['of another key under a known name', () => signToken(header, claims, aSigningKey())],
      ['without a name of its key', () => signToken({ ...header, kid: undefined }, claims, aSigningKey())],
      ['with alg none', () => `${encodePart({ ...header, alg: 'none' })}.${encodePart(claims)}.`],
      ['with a MAC by the public key', macByPublicKey],
      [
        'with a changed payload',
        () => ada.token.replace(/\.[^.]+\./, `.${encodePart({ ...claims, sub: 'x' })}.`),
      ],
      ['as text', () => 'text'],
    ])('refuses a token %s', async (_what, forged) => {
      const verify = await verifierBy(library);

      expect(await verify(forged())).toBe(REFUSED);
    });
  });

  it('survives a rotation of the keys', async () => {
    const all = await Promise.all(LIBRARIES.map(verifierBy));
    const usersOf = (token: string) => Promise.all(all.map((verify) => verify(token)));
    const accepted = all.map(() => ada.id);
    expect(await usersOf(ada.token)).toEqual(accepted);
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

    expect(await usersOf(login.body.token)).toEqual(accepted);
    expect(await usersOf(ada.token)).toEqual(accepted);
  });

  describe('while the keys cannot be fetched', () => {
    const unreachable = async (library: string) => snippetBy(library, `http://127.0.0.1:${await freePort()}`);

    it.each([
      ['jose', { name: 'TypeError' }],
      ['jwks-rsa', { isEndpointUnavailable: true }],
    ])('throws what says so: %s', async (library, error) => {
      const { verify } = await unreachable(library);

      await expect(verify!(ada.token)).rejects.toMatchObject(error);
    });

    it.each([
      ['@fastify/jwt', 'status 503'],
      ['express-oauth2-jwt-bearer', REFUSED],
    ])('answers what the page says: %s', async (library, answer) => {
      const verify = await asVerifier(await unreachable(library));

      expect(await verify(ada.token)).toBe(answer);
    });
  });

  function macByPublicKey(): string {
    const input = `${encodePart({ ...header, alg: 'HS256' })}.${encodePart(claims)}`;
    const pem = key.publicKey.export({ type: 'spki', format: 'pem' });
    return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
  }
});

function answerOf(status: number, { id }: { id?: string }): string {
  if (status === 401) return REFUSED;
  return status === 200 ? String(id) : `status ${status}`;
}
