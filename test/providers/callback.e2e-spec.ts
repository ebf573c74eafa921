import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AddedProvider,
  addProvider,
  aDomain,
  aUserAt,
  browserOf,
  emailAt,
  finishAt,
  ISSUER,
  LOOPBACK,
  startAt,
  type Started,
  visitFor,
} from '../support/at-providers.js';
import { isSameNetwork } from '../../src/auth/sessions/known-places.repository.js';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import {
  crossDeviceLoginOff,
  invalidFields,
  invalidProviderLogin,
  providerNotFound,
  providerUnavailable,
  rateLimited,
  uriTooLong,
} from '../support/expected.js';
import { TestProvider } from '../support/provider.js';
import { RecordedProvider } from '../support/recorded-provider.js';
import { keyRingOf } from '../support/second-factor.js';
import { startService } from '../support/service.js';

const PATH = `${new URL(ISSUER).pathname}api/auth/providers`;

const service = await startService({
  env: { JWT_ISSUER: ISSUER, TRUST_PROXY: '127.0.0.1', RATE_LIMIT_PROVIDER: 'off' },
});
const provider = await TestProvider.start();
afterAll(async () => {
  provider.stop();
  await service.stop();
});

const domain = aDomain();
let acme: AddedProvider;
let other: AddedProvider;
beforeAll(async () => {
  acme = await addProvider(service, provider, { domains: [domain], createUsers: true });
  other = await addProvider(service, provider);
});

const aSubjectOf = (added = acme) => aUserAt(added, emailAt(domain));

const stateOf = ({ authorizationUrl }: Started) => new URL(authorizationUrl).searchParams.get('state')!;

const callback = (query: string, { name } = acme) => service.anyone.get(`${PATH}/${name}/callback?${query}`);

/** The URL at which the provider sends the browser back, not yet visited. */
async function returnTo(started: Started, subject: string): Promise<URL> {
  const sites = { [provider.issuer]: provider.issuer };
  const browser = provider.browser(subject, sites);
  return (await browser.visit(started.authorizationUrl)).url;
}

/** Numbers of rows that a callback might have written. */
async function written(): Promise<number[]> {
  const count = async (table: string) =>
    Number((await service.db.query(`SELECT COUNT(*) AS number FROM ${table}`))[0]!['number']);
  return Promise.all(['users', 'identities', 'sessions', 'events', 'provider_logins'].map(count));
}

describe('start', () => {
  it('returns the URL of the provider, for ten minutes, and writes nothing', async () => {
    const before = await written();
    const started = await startAt(service, acme.name, { loginHint: 'ada@example.com', maxAge: 300 });
    const { origin, searchParams } = new URL(started.authorizationUrl);
    expect(origin).toBe(provider.issuer);
    const { state, nonce, code_challenge: challenge, ...parameters } = Object.fromEntries(searchParams);
    expect(parameters).toEqual({
      client_id: provider.clientId,
      response_type: 'code',
      scope: 'openid email profile',
      redirect_uri: `${ISSUER}/api/auth/providers/${acme.name}/callback`,
      code_challenge_method: 'S256',
      login_hint: 'ada@example.com',
      max_age: '300',
    });
    expect([nonce, challenge, started.state]).toEqual(Array(3).fill(expect.stringMatching(/^[\w-]{43}$/)));
    expect(state).not.toContain(started.state);
    expect(await written()).toEqual(before);
  });

  it.each(['nobody', 'Acme', 'x'.repeat(41), '..%2Fadmin', '%2e%2e%2fx', 'finish'])(
    'knows no provider %s',
    async (name) => {
      const body = { codeChallenge: 'x'.repeat(43), codeChallengeMethod: 'S256', redirectUri: LOOPBACK };
      const answer = await service.anyone.post(`${PATH}/${name}/start`, body);
      expect(answer).toMatchObject(providerNotFound);
    },
  );

  it('answers for a disabled provider as for an unknown one', async () => {
    const disabled = await addProvider(service, provider);
    await service.db.query('UPDATE providers SET disabled_at = 1 WHERE id = ?', [disabled.id]);
    const body = { codeChallenge: 'x'.repeat(43), codeChallengeMethod: 'S256', redirectUri: LOOPBACK };
    const answer = await service.anyone.post(`${PATH}/${disabled.name}/start`, body);
    expect(answer).toMatchObject(providerNotFound);
  });

  it.each([
    ['codeChallenge', 'x'.repeat(42)],
    ['codeChallenge', undefined],
    ['codeChallengeMethod', 'plain'],
    ['redirectUri', 'https://127.0.0.1:5000'],
    ['redirectUri', 'http://localhost:5000'],
    ['redirectUri', 'http://127.0.0.1:5000/?next=1'],
    ['redirectUri', `http://127.0.0.1:5000/${'x'.repeat(2000)}`],
    ['redirectUri', [LOOPBACK]],
    ['redirectUri', null],
    ['loginHint', 'ada\n'.repeat(2)],
    ['loginHint', 'x'.repeat(255)],
    ['maxAge', -1],
    ['maxAge', 86_401],
    ['maxAge', 1.5],
    ['maxAge', '300'],
  ])('refuses %s %j', async (field, value) => {
    const body = { codeChallenge: 'x'.repeat(43), codeChallengeMethod: 'S256', redirectUri: LOOPBACK };
    const answer = await service.anyone.post(`${PATH}/${acme.name}/start`, { ...body, [field]: value });
    expect(answer).toMatchObject(invalidFields(field));
  });

  it('allows no code to paste unless operators do', async () => {
    const body = { codeChallenge: 'x'.repeat(43), codeChallengeMethod: 'S256' };
    const answer = await service.anyone.post(`${PATH}/${acme.name}/start`, body);
    expect(answer).toMatchObject(crossDeviceLoginOff);
  });

  it('says that a provider does not respond, and remembers it for a moment', async () => {
    const down = await TestProvider.start();
    const added = await addProvider(service, down);
    down.stop();
    const body = { codeChallenge: 'x'.repeat(43), codeChallengeMethod: 'S256', redirectUri: LOOPBACK };
    const answer = await service.anyone.post(`${PATH}/${added.name}/start`, body);
    expect(answer).toMatchObject(providerUnavailable);
    expect(answer.headers.get('retry-after')).toBe('10');
  });

  it('needs the key that encrypted the secret of the provider', async () => {
    const lost = await addProvider(service, provider);
    const secret = new EncryptedSecrets(await keyRingOf(service), 'second factor secrets');
    const wrong = secret.encrypt(Buffer.from('x'), lost.id);
    await service.db.query('UPDATE providers SET secret = ? WHERE id = ?', [wrong, lost.id]);
    const body = { codeChallenge: 'x'.repeat(43), codeChallengeMethod: 'S256', redirectUri: LOOPBACK };
    const answer = await service.anyone.post(`${PATH}/${lost.name}/start`, body);
    expect(answer).toMatchObject(providerUnavailable);
  });
});

describe('the callback', () => {
  it('redirects the browser with a code and the state alone, and writes neither user nor session', async () => {
    const started = await startAt(service, acme.name);
    const url = await returnTo(started, aSubjectOf());
    expect(url.pathname).toBe(`/api/auth/providers/${acme.name}/callback`);
    const before = await written();
    const response = await fetch(service.url + url.pathname + url.search, { redirect: 'manual' });
    expect(response.status).toBe(303);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await response.text()).toBe('');
    const location = new URL(response.headers.get('location')!);
    expect(location.href.split('?', 1)[0]).toBe(LOOPBACK);
    expect([...location.searchParams.keys()].toSorted()).toEqual(['code', 'state']);
    expect(location.searchParams.get('state')).toBe(started.state);
    expect(location.searchParams.get('code')).toMatch(/^[\w-]{43}$/);
    expect((await written()).map((rows, index) => rows - before[index]!)).toEqual([0, 0, 0, 0, 1]);
  });

  it.each(['http://127.0.0.1:49152', 'http://[::1]:1024/a/b'])('redirects to %s', async (redirectUri) => {
    const started = await startAt(service, acme.name, { redirectUri });
    const { url } = await browserOf(service, acme, aSubjectOf()).visit(started.authorizationUrl);
    expect(url.href.startsWith(redirectUri)).toBe(true);
    expect(url.searchParams.get('state')).toBe(started.state);
  });

  it('passes a refusal on as a word, and nothing that the provider wrote', async () => {
    const started = await startAt(service, acme.name);
    expect(await visitFor(service, acme, started)).toEqual({ error: 'provider_denied' });
  });

  it.each([
    ['server_error', 'provider_unavailable'],
    ['temporarily_unavailable', 'provider_unavailable'],
    ['access_denied', 'provider_denied'],
    ['login_required', 'provider_denied'],
    ['<script>', 'provider_denied'],
  ])('calls the error %s %s', async (error, expected) => {
    const state = stateOf(await startAt(service, acme.name));
    const query = new URLSearchParams({ state, error, iss: provider.issuer, error_description: '<b>' });
    const answer = await callback(query.toString());
    expect(answer.status).toBe(303);
    expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe(expected);
  });

  it('does not believe another issuer', async () => {
    for (const issuer of [[['iss', 'https://evil.example']], []] as [string, string][][]) {
      const state = stateOf(await startAt(service, acme.name));
      const answer = await callback(
        new URLSearchParams([['state', state], ['code', 'x'], ...issuer]).toString(),
      );
      expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe('provider_unavailable');
    }
  });

  it('asks for a newer login if that at the provider is too old', async () => {
    provider.authTime = Math.floor(Date.now() / 1000) - 40 * 86_400;
    const started = await startAt(service, acme.name);
    const parameters = await visitFor(service, acme, started, aSubjectOf());
    provider.authTime = undefined;
    expect(parameters).toEqual({ error: 'insufficient_user_authentication' });
  });

  it('answers a code of the provider that was used before with 400, never with a redirect', async () => {
    const started = await startAt(service, acme.name);
    const url = await returnTo(started, aSubjectOf());
    const again = url.pathname + url.search;
    const first = await service.anyone.get(again);
    expect(first.status).toBe(303);
    expect(await service.anyone.get(again)).toMatchObject(invalidProviderLogin);
    // The first one counts.
    const code = new URL(first.headers.get('location')!).searchParams.get('code')!;
    expect((await finishAt(service, { code, codeVerifier: started.codeVerifier })).status).toBe(200);
  });

  it('opens no state that was changed at any place, cut, or repeated', async () => {
    const state = stateOf(await startAt(service, acme.name));
    const places = [0, 20, 43, 44, 50, 60, 61, 80, Math.floor(state.length / 2), state.length - 3];
    const changed = places.map(
      (at) => state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1),
    );
    for (const text of [
      ...changed,
      state.slice(0, -4),
      state.slice(1),
      `${state}AAAA`,
      '',
      '.',
      'x'.repeat(3000),
    ]) {
      const answer = await callback(
        new URLSearchParams({ state: text, code: 'x' }).toString().slice(0, 2500),
      );
      expect(answer, text).toMatchObject(invalidProviderLogin);
    }
    expect(await callback(`state=${state}&state=${state}&code=x`)).toMatchObject(invalidProviderLogin);
  });

  it('opens no state of another provider, of another purpose, or of eleven minutes ago', async () => {
    const state = stateOf(await startAt(service, other.name));
    expect(await callback(`state=${state}&error=access_denied`)).toMatchObject(invalidProviderLogin);

    const ring = await keyRingOf(service);
    const text = (startedAt: number) =>
      Buffer.from(
        JSON.stringify({ startedAt, redirectUri: LOOPBACK, programState: 'x', codeChallenge: 'x' }),
      );
    const encrypted = (purpose: 'provider secrets' | 'provider logins', startedAt: number) =>
      new EncryptedSecrets(ring, purpose).encrypt(text(startedAt), acme.id);
    const of = async (...parameters: Parameters<typeof encrypted>) =>
      (await callback(`state=${encrypted(...parameters)}&error=access_denied&iss=${provider.issuer}`)).status;
    expect(await of('provider logins', Date.now() - 590_000)).toBe(303);
    expect(await of('provider logins', Date.now() - 660_000)).toBe(400);
    expect(await of('provider secrets', Date.now())).toBe(400);
  });

  it('needs one code or one error, in the raw URL', async () => {
    const state = stateOf(await startAt(service, acme.name));
    for (const more of ['', '&code=a&code=b', '&code=a&error=b', '&error=a&error=b', '&code=a&%63ode=b'])
      expect(await callback(`state=${state}${more}`), more).toMatchObject(invalidProviderLogin);
    expect(await callback('code=a')).toMatchObject(invalidProviderLogin);
    expect(await service.anyone.get(`${PATH}/${acme.name}/callback`)).toMatchObject(invalidProviderLogin);
  });

  it('knows no provider that is unknown or disabled since', async () => {
    const added = await addProvider(service, provider);
    const state = stateOf(await startAt(service, added.name));
    await service.db.query('UPDATE providers SET disabled_at = 1 WHERE id = ?', [added.id]);
    expect(await callback(`state=${state}&code=a`, added)).toMatchObject(invalidProviderLogin);
    for (const name of ['nobody', 'ACME', '%2e%2e%2fx', 'x'.repeat(41)])
      expect(await callback(`state=${state}&code=a`, { ...added, name })).toMatchObject(invalidProviderLogin);
  });

  it('takes URLs of 8 KiB, and no longer ones', async () => {
    const state = stateOf(await startAt(service, acme.name));
    const query = `state=${state}&error=access_denied&iss=${encodeURIComponent(provider.issuer)}&session_state=`;
    const path = `${PATH}/${acme.name}/callback?${query}`;
    const of = (length: number) => service.anyone.get(path.padEnd(length, 'x'));
    expect((await of(8192)).status).toBe(303);
    expect(await of(8193)).toMatchObject(uriTooLong);
  });

  it('writes plain text to browsers that see no redirect', async () => {
    const url = `${service.url}${PATH}/${acme.name}/callback?state=x&code=<script>`;
    const answer = await fetch(url, { headers: { accept: 'text/html,application/xhtml+xml' } });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await answer.text()).toBe('This login is no longer valid. Start again in your program.\n');
  });

  it('lets the browser and the program be in one network, if the provider wants that', async () => {
    const strict = await addProvider(service, provider, { sameNetwork: true });
    const from = (address: string) => service.anyone.with({ 'x-forwarded-for': address });
    const outcome = async (program: string, browser: string) => {
      const at = { anyone: from(program), installation: service.installation };
      const started = await startAt(at, strict.name);
      const headers = { 'x-forwarded-for': browser };
      const { url } = await browserOf(service, strict, aSubjectOf(strict), headers).visit(
        started.authorizationUrl,
      );
      return url.searchParams.get('error') ?? 'code';
    };
    expect(await outcome('203.0.113.7', '203.0.113.200')).toBe('code');
    expect(await outcome('203.0.113.7', '203.0.114.7')).toBe('network_differs');
    expect(await outcome('2001:db8:1::7', '2001:db8:1:ffff::1')).toBe('code');
    expect(await outcome('2001:db8:1::7', '2001:db8:2::7')).toBe('network_differs');
    expect(await outcome('203.0.113.7', '2001:db8:1::7')).toBe('network_differs');
    // The address of a socket that is gone.
    expect(isSameNetwork('', '')).toBe(false);
  });
});

describe('another installation', () => {
  it('serves the callback below the path of its issuer, too, and limits failures', async () => {
    const env = { JWT_ISSUER: 'https://example.com/accounts', RATE_LIMIT_PROVIDER: '3/15m' };
    const below = await startService({ env });
    const path = '/api/auth/providers/acme/callback?state=x&code=x';
    expect(await below.anyone.get(`/accounts${path}`)).toMatchObject(invalidProviderLogin);
    expect(await below.anyone.get(path)).toMatchObject(invalidProviderLogin);
    const [code, codeVerifier] = ['x'.repeat(43), 'y'.repeat(43)];
    expect(await finishAt(below, { code, codeVerifier })).toMatchObject(invalidProviderLogin);
    expect(await finishAt(below, { code, codeVerifier })).toMatchObject(rateLimited);
    expect(await below.anyone.get(path)).toMatchObject(rateLimited);
    await below.stop();
  });
});

it('logs the reason of a refusal, and names the provider', async () => {
  const keycloak = await RecordedProvider.play('keycloak');
  const added = await addProvider(service, keycloak);
  keycloak.answers.token = (response) => response.writeHead(500).end();
  const started = await startAt(service, added.name);
  const { search } = keycloak.authorize(started.authorizationUrl);
  const answer = await callback(search.slice(1), { ...acme, name: added.name });
  expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe('provider_unavailable');
  const line = service.logs.find(
    (text) => text.includes('a login at a provider was refused') && text.includes(added.name),
  );
  expect(JSON.parse(line!)).toMatchObject({
    error: 'provider_unavailable',
    reason: expect.stringContaining('500') as string,
  });
  keycloak.stop();
});
