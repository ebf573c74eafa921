import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { addProvider, aDomain, emailAt, finishAt, ISSUER, startAt } from '../support/at-providers.js';
import { times } from '../support/at-once.js';
import { Authority, type Certificate } from '../support/certificates.js';
import { aheadBy, MovableClock } from '../support/clock.js';
import { accessTo, aProviderClient, logInAt } from '../support/provider-logins.js';
import { anAccount } from '../support/personas.js';
import { type Endpoint, RecordedProvider } from '../support/recorded-provider.js';
import { type Instance, startOwnService } from '../support/service.js';
import type { Environment } from '../support/service-process.js';
import { closeAfterAll, closeAfterTest, Storage, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';

/** The whole time of a callback, and a second for a busy machine. */
const PATIENCE_MS = 11_000;
/** One process plays all browsers, and ends 500 answers at once. */
const PATIENCE_OF_MANY_MS = 20_000;
/** A failure is kept for 10 s. */
const RECOVERY_MS = 11_000;
const BROWSERS = 500;
/** The provider sees the end of a request that was given up after the next one has begun. */
const AT_ONCE = 2 * 16;
const MORE_MIB = 50;

const ENV: Environment = { ...UNLIMITED, JWT_ISSUER: ISSUER };

interface Site {
  service: Instance;
  provider: RecordedProvider;
  name: string;
}

async function anInstance(env: Environment): Promise<Instance> {
  const { installation } = await closeAfterTest(Storage.on('sqlite'));
  return closeAfterTest(startOwnService({ installation, env: { ...ENV, ...env } }));
}

async function played(
  service: Instance,
  name: Parameters<typeof RecordedProvider.play>[0] = 'okta',
  tls?: ServerOptions,
): Promise<Site> {
  const provider = await RecordedProvider.play(name, tls);
  await closeAfterTest({ close: () => provider.stop() });
  const domain = aDomain();
  const email = emailAt(domain);
  const { idToken, userInfo } = provider.recording;
  Object.assign(idToken, { sub: email, ...('email' in idToken && { email, email_verified: true }) });
  Object.assign(userInfo, { sub: email, email, email_verified: true });
  const added = await addProvider(service, provider, { domains: [domain], createUsers: true });
  return { service, provider, name: added.name };
}

/** What the program gets: `error`, or the status and code of an answer that is not a redirect, or nothing after a login. */
async function logIn({ service, provider, name }: Site, more: object = {}): Promise<string | undefined> {
  const started = await startAt(service, name, more);
  const callback = provider.authorize(started.authorizationUrl);
  const parameters = await returnTo(service, callback);
  const code = parameters.get('code');
  if (code === null) return parameters.get('error')!;
  const { codeVerifier } = started;
  const { status, text } = await finishAt(service, { code, codeVerifier });
  return status === 200 ? undefined : `${status} ${text}`;
}

async function returnTo({ url }: Pick<Instance, 'url'>, callback: URL): Promise<URLSearchParams> {
  const response = await fetch(url + callback.pathname + callback.search, { redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) return new URLSearchParams({ error: `${response.status} ${await response.text()}` });
  return new URL(location).searchParams;
}

async function startCode({ service, name }: Site): Promise<string | undefined> {
  const body = {
    codeChallenge: 'a'.repeat(43),
    codeChallengeMethod: 'S256',
    redirectUri: 'http://127.0.0.1:49152',
  };
  const answer = await service.anyone.post<{ code?: string }>(`/api/auth/providers/${name}/start`, body);
  return answer.body.code;
}

async function took<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const since = performance.now();
  return { result: await work, ms: performance.now() - since };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const FAULTS: [string, (response: ServerResponse) => void][] = [
  ['does not answer', () => undefined],
  ['resets the connection', (response) => response.socket!.destroy()],
  ['answers 500', (response) => response.writeHead(500, JSON_TYPE).end('{}')],
  [
    'answers half',
    (response) =>
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '99' }).write('{', () => response.destroy()),
  ],
  [
    'shows a page',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Maintenance</p>'),
  ],
];

describe('a provider with a fault', async () => {
  const storage = await closeAfterAll(Storage.on('sqlite'));
  const authority = await Authority.create('Authority of the test');
  const pem = ({ certificate, key }: Certificate): ServerOptions => ({
    cert: readFileSync(certificate),
    key: readFileSync(key),
  });
  const service = await closeAfterAll(
    startOwnService({
      installation: storage.installation,
      env: { ...ENV, NODE_EXTRA_CA_CERTS: authority.certificate },
    }),
  );

  const isReady = async (): Promise<boolean> => (await service.anyone.get('/health/ready')).status === 200;

  it.each(FAULTS)('%s: the login fails in time, the next one after it succeeds', async (_, answer) => {
    const site = await played(service);
    const { provider } = site;
    expect(await logIn(site)).toBeUndefined();
    for (const endpoint of ['token', 'userInfo'] satisfies Endpoint[]) {
      provider.answers[endpoint] = answer;
      const { result, ms } = await took(logIn(site));
      expect(result).toBe('provider_unavailable');
      expect(ms).toBeLessThan(PATIENCE_MS);
      expect(await isReady()).toBe(true);
      delete provider.answers[endpoint];
      expect(await logIn(site), 'once it answers').toBeUndefined();
    }
  });

  it('has a fault from the start on: logins fail at once, and work 10 s after it has recovered', async () => {
    const recoveriesMs = await Promise.all(
      FAULTS.map(async ([fault, answer]) => {
        const site = await played(service);
        site.provider.answers.metadata = answer;
        expect(await startCode(site), fault).toBe('provider_unavailable');
        const again = await took(startCode(site));
        expect(again.result, fault).toBe('provider_unavailable');
        expect(again.ms, 'at once').toBeLessThan(1000);
        expect(site.provider.count('metadata')).toBe(1);
        site.provider.answers = {};
        const hasRecovered = async (): Promise<boolean> => (await startCode(site)) === undefined;
        const { ms } = await took(waitFor('a login starts', RECOVERY_MS, hasRecovered));
        expect(await logIn(site)).toBeUndefined();
        return ms;
      }),
    );
    report({ faults: FAULTS.length, recoveriesMs });
  });

  it('is down while a user logs in, and comes back', async () => {
    const site = await played(service);
    expect(await logIn(site)).toBeUndefined();
    const { authorizationUrl } = await startAt(service, site.name);
    site.provider.stop();
    const { result } = await took(returnTo(service, site.provider.authorize(authorizationUrl)));
    expect(result.get('error')).toBe('provider_unavailable');
    expect(await isReady()).toBe(true);
    await site.provider.startAgain();
    expect(await logIn(site)).toBeUndefined();
  });

  it('has let its certificate expire, and replaces it', async () => {
    const [valid, expired] = [
      await authority.issue('DNS:localhost'),
      await authority.issue('DNS:localhost', '0'),
    ];
    const site = await played(service, 'okta', pem(valid));
    expect(await logIn(site)).toBeUndefined();
    const { authorizationUrl } = await startAt(service, site.name);
    site.provider.useCertificate(pem(expired));
    const back = await returnTo(service, site.provider.authorize(authorizationUrl));
    expect(back.get('error')).toBe('provider_unavailable');
    expect(service.logs.some((line) => line.includes('CERT_HAS_EXPIRED'))).toBe(true);
    site.provider.useCertificate(pem(valid));
    expect(await logIn(site)).toBeUndefined();
  });

  it('answers each request after 2.8 s: a login has 10 s for all of them', async () => {
    const { provider } = await played(service);
    provider.delayMs = 2800;
    const [here, there] = [aProviderClient(), aProviderClient()];
    const authorizationUrl = here.authorizationUrl.bind(here);
    const authorize = (url: string): URL => provider.authorize(url);
    const access = accessTo(provider);
    expect(await logInAt(here, access, authorize), 'three requests').toMatchObject({ kind: 'accepted' });
    const complete = there.complete.bind(there);
    const { result, ms } = await took(logInAt({ authorizationUrl, complete }, access, authorize));
    expect(result, 'four requests').toMatchObject({
      error: 'provider_unavailable',
      reason: 'no answer in time',
    });
    expect(ms).toBeLessThan(PATIENCE_MS);
  });

  it(`hangs for ${BROWSERS} browsers: all else goes on`, async () => {
    const site = await played(service);
    const other = await played(service);
    const ada = await anAccount(service);
    expect(await logIn(site)).toBeUndefined();
    const starting = () => Promise.all(times(BROWSERS, () => startAt(service, site.name)));
    const backFrom = ({ authorizationUrl }: { authorizationUrl: string }): Promise<URLSearchParams> =>
      returnTo(service, site.provider.authorize(authorizationUrl));
    const usual = await Promise.all((await starting()).map(backFrom));
    expect(
      usual.filter((parameters) => !parameters.has('code')),
      'while it answers',
    ).toEqual([]);
    const starts = await starting();
    const before = service.memoryMiB();
    let [running, most] = [0, 0];
    site.provider.answers.token = (response) => {
      running += 1;
      most = Math.max(most, running);
      response.once('close', () => (running -= 1));
    };
    const flood = { left: BROWSERS, memory: before };
    const browsers = starts.map(async (start) => {
      const end = await took(backFrom(start));
      flood.left -= 1;
      return end;
    });
    const atAnother = logIn(other);
    const answers: { status: number; ms: number }[] = [];
    while (flood.left > 0) {
      // Thousands of probes would raise the memory themselves.
      await sleep(100);
      const me = await took(ada.get('/api/me'));
      const ready = await took(service.anyone.get('/health/ready'));
      answers.push(...[me, ready].map(({ result, ms }) => ({ status: result.status, ms })));
      flood.memory = Math.max(flood.memory, service.memoryMiB());
    }
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    report({ requests: answers.length, longestAnswerMs: Math.max(...answers.map(({ ms }) => ms)) });
    expect(await atAnother, 'at another provider').toBeUndefined();
    const ends = await Promise.all(browsers);
    expect(new Set(ends.map(({ result }) => result.get('error')))).toEqual(new Set(['provider_unavailable']));
    expect(Math.max(...ends.map(({ ms }) => ms))).toBeLessThan(PATIENCE_OF_MANY_MS);
    expect(most).toBeLessThanOrEqual(AT_ONCE);
    expect(flood.memory - before).toBeLessThan(MORE_MIB);

    site.provider.answers = {};
    expect(await logIn(site)).toBeUndefined();
  });
});

describe('keys of a provider', () => {
  it('are new at that moment: the login after a minute finds them', async () => {
    const clock = new MovableClock();
    const service = await anInstance({ NODE_OPTIONS: clock.option });
    const site = await played(service, 'keycloak');
    expect(await logIn(site), 'with the old key').toBeUndefined();
    site.provider.rotateKey('new key');
    expect(await logIn(site)).toBe('provider_unavailable');
    clock.moveOn(61_000);
    expect(await logIn(site)).toBeUndefined();
    expect(site.provider.count('keys')).toBe(2);
  });
});

describe('a clock that is behind', () => {
  it.each([
    ['25 s, as nbf allows', 25, true, undefined],
    ['40 s, without nbf', 40, false, undefined],
    ['40 s, with nbf', 40, true, 'provider_unavailable'],
  ])('%s', async (_, seconds, hasNbf, error) => {
    const service = await anInstance({ NODE_OPTIONS: aheadBy(-seconds * 1000) });
    const site = await played(service);
    if (hasNbf) Object.assign(site.provider.recording.times, { nbf: 0 });
    expect(await logIn(site)).toBe(error);
    const isNamed = service.logs.some((line) => line.includes('"reason":"clock: '));
    expect(isNamed).toBe(error !== undefined);
  });
});

it('a rotation of keys between start and finish fails no login, on either instance', async () => {
  const storage = await closeAfterTest(Storage.on('mariadb'));
  const { installation } = storage;
  const start = (): Promise<Instance> => closeAfterTest(startOwnService({ installation, env: ENV }));
  const [here, there] = [await start(), await start()];
  const site = await played(here);
  expect(await logIn(site)).toBeUndefined();
  const started = await Promise.all(times(3, () => startAt(here, site.name)));
  await accountsJson(installation, ['keys', 'rotate']);
  const finished = started.map(async ({ authorizationUrl, codeVerifier }, index) => {
    const parameters = await returnTo(index === 0 ? here : there, site.provider.authorize(authorizationUrl));
    return finishAt(index === 1 ? here : there, { code: parameters.get('code')!, codeVerifier });
  });
  const statuses = (await Promise.all(finished)).map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200]);
  await waitFor('logins begin with the new key', hangTimeoutMs(), async () => {
    const state = new URL((await startAt(there, site.name)).authorizationUrl).searchParams.get('state')!;
    return !state.startsWith(installation.keys[0]!.kid);
  });
  expect(await logIn({ ...site, service: there })).toBeUndefined();
});
