import { afterAll, describe, expect, it } from 'vitest';
import { ProviderClient } from '../../src/auth/providers/provider-client.js';
import type { ProviderSettings } from '../../src/auth/providers/provider-settings.js';
import { aProviderClient, accessTo, logInAt } from '../support/provider-logins.js';
import { TestProvider } from '../support/provider.js';
import { RECORDED, RecordedProvider } from '../support/recorded-provider.js';

const EMAIL = 'ada@example.com';
const started: { stop(): void }[] = [];
afterAll(() => started.forEach((provider) => provider.stop()));

async function play(name: (typeof RECORDED)[number]): Promise<{
  provider: RecordedProvider;
  client: ProviderClient;
  logIn: (settings?: Partial<ProviderSettings>, maxAge?: number) => ReturnType<typeof logInAt>;
}> {
  const provider = await RecordedProvider.play(name);
  started.push(provider);
  const client = aProviderClient();
  return {
    provider,
    client,
    logIn: (settings, maxAge) =>
      logInAt(client, accessTo(provider, settings), (url) => provider.authorize(url), { maxAge }),
  };
}

const accepted = (user: object): object => expect.objectContaining({ kind: 'accepted', ...user });
const verified = { email: EMAIL, emailVerified: true };

describe.each(RECORDED)('%s', (name) => {
  it('passes the test of operators', async () => {
    const { provider, client } = await play(name);
    expect(await client.test(accessTo(provider))).toMatchObject({
      issuer: provider.issuer,
      discovery: { ok: true },
      keys: { ok: true },
      client: { ok: true },
    });
  });

  it('sends the secret in the body, and the verifier of this login', async () => {
    const { provider, logIn } = await play(name);
    expect(await logIn()).toEqual(accepted({}));
    const { headers, body } = provider.requests.find(({ endpoint }) => endpoint === 'token')!;
    expect(headers.authorization).toBeUndefined();
    expect(Object.fromEntries(body)).toMatchObject({
      client_id: 'accounts',
      client_secret: provider.secret,
      grant_type: 'authorization_code',
      code_verifier: expect.stringMatching(/^[\w-]{43}$/) as string,
    });
  });
});

describe('Entra ID', () => {
  it('names every tenant in the metadata of `common`, which is nobody in particular', async () => {
    const { provider, logIn, client } = await play('entra-id');
    const { metadata } = provider.recording;
    const typed = metadata.issuer;
    provider.answers.metadata = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          ...metadata,
          issuer: new URL('/{tenantid}/v2.0', typed).origin + '/{tenantid}/v2.0',
        }),
      );
    await expect(logIn()).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(await client.test(accessTo(provider))).toMatchObject({
      issuer: undefined,
      discovery: { ok: false, reason: '"response" body "issuer" property does not match the expected value' },
      keys: { ok: false },
    });
  });

  it('has an `oid` beside the `sub` of this client, and never verifies an email', async () => {
    const { provider, logIn } = await play('entra-id');
    const { oid, sub } = provider.recording.idToken;
    const unverified = { email: EMAIL, emailVerified: false, authTime: null };
    expect(await logIn()).toEqual(accepted({ ...unverified, subject: sub }));
    expect(provider.count('userInfo')).toBe(1);
    const settings = { trustEmails: true, subjectClaim: 'oid' } as const;
    expect(await logIn(settings)).toEqual(accepted({ ...unverified, subject: oid }));
    expect(provider.count('userInfo'), 'which could add nothing').toBe(1);
  });
});

describe('Google', () => {
  const settings = { require: { name: 'hd', value: 'example.com' } };

  it('names the domain of a company account', async () => {
    const { provider, logIn } = await play('google');
    expect(await logIn(settings)).toEqual(accepted({ ...verified, authTime: null }));
    expect(provider.count('userInfo')).toBe(0);
  });

  it('names none for a personal account, which may have an email of the company', async () => {
    const { provider, logIn } = await play('google');
    delete provider.recording.idToken['hd'];
    delete provider.recording.idToken['email'];
    expect(await logIn(settings)).toMatchObject({ kind: 'refused', error: 'provider_denied' });
    expect(provider.count('userInfo'), 'after the required claim').toBe(0);
  });

  it('never satisfies maxAge', async () => {
    const { logIn } = await play('google');
    expect(await logIn({}, 86_400)).toEqual({
      kind: 'refused',
      error: 'insufficient_user_authentication',
      reason: 'the provider names no auth_time',
    });
  });
});

describe.each(['okta', 'okta-custom-server'] as const)('Okta: %s', (name) => {
  it('sends the email by UserInfo only', async () => {
    const { provider, logIn } = await play(name);
    expect(await logIn()).toEqual(
      accepted({ ...verified, name: 'Ada Lovelace', subject: '00u1a2b3c4D5E6F7g8h9' }),
    );
    expect(provider.count('userInfo')).toBe(1);
    expect(provider.requests.at(-1)!.headers.authorization).toBe('Bearer token of the provider');
  });
});

describe('Keycloak', () => {
  it('says that an email is not verified, until it is', async () => {
    const { provider, logIn } = await play('keycloak');
    expect(await logIn()).toEqual(accepted({ email: EMAIL, emailVerified: false }));
    expect(provider.count('userInfo'), 'it has said it in the ID token').toBe(0);
    provider.recording.idToken['email_verified'] = true;
    expect(await logIn()).toEqual(accepted(verified));
  });

  it('sends its issuer to the callback, which must be there and the right one', async () => {
    const { provider, logIn } = await play('keycloak');
    const { callback } = provider.recording;
    const unavailable = { kind: 'refused', error: 'provider_unavailable' };
    for (const iss of ['https://id.example.com/realms/other', `${provider.issuer}/`, '']) {
      provider.recording.callback = { ...callback, iss };
      expect(await logIn(), iss).toMatchObject(unavailable);
    }
    delete provider.recording.callback['iss'];
    expect(await logIn()).toMatchObject(unavailable);
    expect(provider.count('token')).toBe(0);
  });

  it('signs with a new key while the old ones are kept', async () => {
    const { provider, logIn } = await play('keycloak');
    expect(await logIn()).toEqual(accepted({}));
    expect(await logIn()).toEqual(accepted({}));
    expect(provider.count('keys')).toBe(1);
    provider.rotateKey('new');
    expect(await logIn(), 'less than a minute after the last look').toMatchObject({
      kind: 'refused',
      error: 'provider_unavailable',
    });
    expect(provider.count('keys')).toBe(1);
  });
});

describe('Auth0', () => {
  it('has a slash at the end of its issuer, typed or not', async () => {
    const { provider, client } = await play('auth0');
    const { issuer } = provider;
    expect(issuer).toMatch(/\/$/);
    const typed = { ...accessTo(provider), issuer: issuer.replace(/\/$/, '') };
    expect(await client.test(typed)).toMatchObject({ issuer, client: { ok: true } });
    const authorize = (url: string): URL => provider.authorize(url);
    expect(await logInAt(client, typed, authorize)).toEqual(accepted(verified));
    expect(await logInAt(client, accessTo(provider), authorize)).toEqual(accepted(verified));
  });
});

describe('Cognito', () => {
  it('says in a text that an email is verified', async () => {
    const { logIn } = await play('cognito');
    expect(await logIn()).toEqual(accepted(verified));
  });
});

describe('oidc-provider', () => {
  it('confirms a user to a browser, names the time of the login, and shows a denial', async () => {
    const provider = await TestProvider.start();
    started.push(provider);
    const client = aProviderClient();
    const access = accessTo(provider);
    expect(await client.test(access)).toMatchObject({
      client: { ok: true },
      announcesEmailVerified: true,
      announcesAuthTime: true,
    });

    provider.addUser('ada', { email: EMAIL, email_verified: true, name: 'Ada' });
    const browser = provider.browser('ada');
    const authorize = async (url: string): Promise<URL> => (await browser.visit(url)).url;
    const user = { kind: 'accepted', subject: 'ada', name: 'Ada', ...verified };
    expect(await logInAt(client, access, authorize, { maxAge: 0 })).toMatchObject(user);
    provider.authTime = Math.floor(Date.now() / 1000) - 3600;
    const old = provider.browser('ada');
    expect(await logInAt(client, access, async (url) => (await old.visit(url)).url)).toMatchObject({
      ...user,
      authTime: provider.authTime * 1000,
    });

    const denying = provider.browser();
    expect(await logInAt(client, access, async (url) => (await denying.visit(url)).url)).toEqual({
      kind: 'refused',
      error: 'provider_denied',
      reason: 'the callback has the error access_denied',
    });
  });
});
