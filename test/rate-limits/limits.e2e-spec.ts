import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import {
  emailTaken,
  invalidChallenge,
  invalidCredentials,
  invalidFields,
  rateLimited,
  userNotFound,
  wrongPassword,
} from '../support/expected.js';
import {
  type Account,
  anAccount,
  anEmail,
  anUnknownId,
  aPassword,
  logIn,
  type Org,
} from '../support/personas.js';
import type { Service } from '../support/service.js';
import { startOwnService, startService } from '../support/service.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const service = await startOwnService();
afterAll(() => service.stop());

describe('the default limits', () => {
  const login = (email: string, password = aPassword()) => logIn(service, { email, password });

  it('admit 5 registrations of one e-mail and no sixth', async () => {
    const email = anEmail();
    const register = () => service.anyone.post('/api/auth/register', { email, password: aPassword() });
    expect((await register()).status).toBe(201);
    for (let attempt = 2; attempt <= 5; attempt += 1) expect(await register()).toMatchObject(emailTaken);
    const sixth = await register();
    expect(sixth).toMatchObject(rateLimited);
    expect(sixth.headers.get('ratelimit-policy')).toBe('"register";q=5;w=3600');
    expect(sixth.headers.get('ratelimit')).toMatch(/^"register";r=0;t=\d+$/);
    expect(sixth.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });

  it('admit 10 logins of one e-mail and no eleventh, right or wrong', async () => {
    const ada = await anAccount(service, 'ada');
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const answer = await login(ada.email, attempt % 2 ? ada.password : aPassword());
      expect(answer.status).toBe(attempt % 2 ? 200 : 401);
      expect(answer.headers.get('ratelimit-policy')).toBe('"login";q=10;w=900');
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"login";r=${10 - attempt};t=\\d+$`));
      expect(answer.headers.get('retry-after')).toBeNull();
    }
    expect(await login(ada.email, ada.password)).toMatchObject(rateLimited);
    expect(await login(ada.email)).toMatchObject(rateLimited);
    // Beyond the limit, too, a body is rejected for its fields.
    expect(await login(ada.email, '')).toMatchObject(invalidFields('password'));
  });

  it.each([
    ['/api/auth/register', 'password', '"register";r=4;'],
    ['/api/auth/login', 'password', '"login";r=9;'],
    ['/api/auth/password/reset', 'newPassword', '"code";r=9;'],
  ])('do not count requests to %s that validation refuses', async (path, field, left) => {
    const body = { email: anEmail(), code: 'ABCDE-FGHJK', [field]: aPassword() };
    for (const _ of times(12, () => 0)) {
      const refused = await service.anyone.post(path, { ...body, [field]: '' });
      expect(refused).toMatchObject(invalidFields(field));
      expect(refused.headers.get('ratelimit')).toBeNull();
    }
    expect((await service.anyone.post(path, body)).headers.get('ratelimit')).toContain(left);
  });

  it('do not reveal whether the e-mail is known', async () => {
    const ada = await anAccount(service, 'ada');
    const seen = async (email: string) => {
      const answers = [];
      for (let attempt = 1; attempt <= 11; attempt += 1) {
        const { status, headers } = await login(email);
        const left = headers.get('ratelimit')?.replace(/t=\d+/, 't');
        answers.push([status, headers.get('ratelimit-policy'), left]);
      }
      return answers;
    };
    expect(await seen(anEmail())).toEqual(await seen(ada.email));
  });

  it('are counted separately for registration and login, and for each e-mail', async () => {
    const [full, other] = [anEmail(), anEmail()];
    for (const _ of times(10, () => 0)) await login(full);
    expect(await login(full)).toMatchObject(rateLimited);
    expect(await login(other)).toMatchObject(invalidCredentials);
    const register = await service.anyone.post('/api/auth/register', { email: full, password: aPassword() });
    expect(register.status).toBe(201);
  });

  it('count all spellings of an e-mail together', async () => {
    const label = anEmail().split('@')[0]!;
    const variants = [
      `a@${label}.b\u00fccher.de`,
      `A@${label}.B\u00dcCHER.DE`,
      ` a@${label}.xn--bcher-kva.de `,
      `a@${label.toUpperCase()}.bu\u0308cher.de`,
      `a@${label}.XN--BCHER-KVA.de`,
    ];
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(await login(variants[attempt % variants.length]!)).toMatchObject(invalidCredentials);
    for (const variant of variants) expect(await login(variant)).toMatchObject(rateLimited);
  });

  it('ignore headers that claim another address', async () => {
    const email = anEmail();
    const names = ['x-forwarded-for', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip'];
    const from = (address: string) => {
      const headers = Object.fromEntries(names.map((name) => [name, address]));
      const anyone = service.anyone.with({ ...headers, forwarded: `for=${address}` });
      return logIn({ anyone }, { email, password: aPassword() });
    };
    for (let attempt = 1; attempt <= 10; attempt += 1)
      expect(await from(`198.51.100.${attempt}`)).toMatchObject(invalidCredentials);
    expect(await from('198.51.100.99')).toMatchObject(rateLimited);
  });

  it('do not count a request that validation refuses for its e-mail, and no body breaks them', async () => {
    const bodies = [undefined, {}, [], null, 'x', 0, ...[[], {}, 5, 'x'].map((email) => ({ email }))];
    for (let round = 0; round < 20; round += 1) {
      for (const body of bodies) {
        for (const door of ['login', 'register']) {
          const { status } = await service.anyone.post(`/api/auth/${door}`, body);
          expect([JSON.stringify(body), status]).toEqual([JSON.stringify(body), 400]);
        }
      }
    }
  });

  it('do not count a login that fails for want of the database', async () => {
    await service.db.query('ALTER TABLE users RENAME TO hidden');
    try {
      const { status, headers } = await login(anEmail());
      expect([status, headers.get('ratelimit')]).toEqual([500, '"login";r=10;t=900']);
    } finally {
      await service.db.query('ALTER TABLE hidden RENAME TO users');
    }
  });

  it('count a change of the password as a login of its own account, whatever e-mail the body has', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const change = (by: Account, currentPassword: string, more: object = {}) =>
      by.put('/api/me/password', { currentPassword, newPassword: aPassword(), ...more });
    for (const _ of times(10, () => 0))
      expect(await change(ada, aPassword(), { email: anEmail() })).toMatchObject(wrongPassword);
    expect(await change(ada, ada.password)).toMatchObject(rateLimited);
    expect(await login(ada.email, ada.password)).toMatchObject(rateLimited);
    expect((await change(grace, grace.password)).status).toBe(200);
  });

  it('admit exactly the limit of simultaneous requests', async () => {
    const email = anEmail();
    const statuses = (await Promise.all(times(40, () => login(email)))).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...times(10, () => 401), ...times(30, () => 429)]);
  });
});

it('a sliding window admits a request after the wait that Retry-After names, refused ones in between or not', async () => {
  const sliding = await startService({ env: { RATE_LIMIT_LOGIN: '3/2s' } });
  const email = anEmail();
  const wrongLogin = () => logIn(sliding, { email, password: aPassword() });
  // Together, or a slow machine has them in two windows.
  const answers = await Promise.all(times(5, wrongLogin));
  const [refused, refusedToo] = answers.filter(({ status }) => status !== 401);
  for (const answer of [refused, refusedToo]) expect(answer).toMatchObject(rateLimited);
  const wait = Number(refusedToo!.headers.get('retry-after'));
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(2);
  await pass(wait * 1000);
  expect(await wrongLogin()).toMatchObject(invalidCredentials);
  await sliding.stop();
});

it('limits can be switched off, and changes have none by default', async () => {
  const free = await startService();
  const email = anEmail();
  const answers: Answer[] = [];
  while (answers.length < 12) answers.push(await logIn(free, { email, password: aPassword() }));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  const owner = await anAccount(free);
  const created = await owner.post<{ org: Org }>('/api/orgs', { name: 'Unlimited' });
  expect(created.status).toBe(201);
  const add = () =>
    owner.post(`/api/orgs/${created.body.org.id}/members`, { email: anEmail(), role: 'member' });
  const missed = [await add(), await add(), await add()];
  for (const answer of missed) expect(answer).toMatchObject(userNotFound);
  for (const { headers } of [answers[0]!, created, ...missed])
    expect(headers.get('ratelimit-policy')).toBeNull();
  await free.stop();
});

const retryAfter = ({ headers }: Answer): number => Number(headers.get('retry-after'));

const proxied = await startOwnService({
  env: {
    TRUST_PROXY: '127.0.0.1, 10.0.0.0/8',
    RATE_LIMIT_IP: '5/30m',
    RATE_LIMIT_LOGIN: '2/1h',
  },
});
afterAll(() => proxied.stop());

describe('the limit of an address', () => {
  const post = (path: string, address: string, body: object): Promise<Answer> =>
    proxied.anyone.with({ 'x-forwarded-for': address }).post(`/api/auth/${path}`, body);
  const login = (address: string, email = anEmail()) =>
    post('login', address, { email, password: aPassword() });
  const secondStep = (address: string, challenge: unknown) =>
    post('login/second-factor', address, { challenge, code: '123456' });
  const register = (address: string) =>
    post('register', address, { email: anEmail(), password: aPassword() });

  it('counts its registrations and logins together, whatever the e-mail', async () => {
    const [address, other] = ['192.0.2.1', '192.0.2.2'];
    for (const _ of times(3, () => 0)) expect((await register(address)).status).toBe(201);
    for (const _ of times(2, () => 0)) expect(await login(address)).toMatchObject(invalidCredentials);
    for (const refused of [await login(address), await register(address)]) {
      expect(refused).toMatchObject(rateLimited);
      expect(refused.body).toMatchObject({ detail: expect.stringMatching(/^[^@]*\baddress\b/) });
      expect(refused.body).not.toMatchObject({ detail: expect.stringMatching(/email/) });
      expect(retryAfter(refused)).toBeGreaterThan(1500);
      expect(retryAfter(refused)).toBeLessThanOrEqual(1800);
    }
    expect(await login(other)).toMatchObject(invalidCredentials);
  });

  it('counts the second steps of logins among them, whatever their challenges are', async () => {
    const address = '192.0.2.6';
    await login(address);
    for (const challenge of ['', 'x', anUnknownId(), '1'])
      expect(await secondStep(address, challenge)).toMatchObject(invalidChallenge);
    expect(await secondStep(address, 'y')).toMatchObject(rateLimited);
    expect(await login(address)).toMatchObject(rateLimited);
  });

  it('counts IPv6 by its /56', async () => {
    for (const subnet of times(5, (index) => `20${index}`))
      expect(await login(`[2001:db8:99:${subnet}::1]:40001`)).toMatchObject(invalidCredentials);
    expect(await login('2001:db8:99:2ff::1')).toMatchObject(rateLimited);
    expect(await login('2001:db8:99:300::1')).toMatchObject(invalidCredentials);
  });

  it('is reported beside that of the e-mail, as a list', async () => {
    const address = '192.0.2.3';
    await register(address);
    const { headers } = await login(address);
    expect(headers.get('ratelimit-policy')).toBe('"login";q=2;w=3600, "address";q=5;w=1800');
    expect(headers.get('ratelimit')).toMatch(/^"login";r=1;t=3600, "address";r=3;t=1[78]\d\d$/);
  });

  it('does not count requests that the limit of the e-mail refuses', async () => {
    const [address, email] = ['192.0.2.4', anEmail()];
    for (const _ of times(2, () => 0)) await login(address, email);
    for (const _ of times(5, () => 0)) {
      const refused = await login(address, email);
      expect(refused).toMatchObject(rateLimited);
      expect(refused.headers.get('ratelimit')).toMatch(/^"login";r=0;t=\d+, "address";r=3;t=\d+$/);
    }
    const others = [];
    for (const _ of times(4, () => 0)) others.push((await login(address)).status);
    expect(others).toEqual([401, 401, 401, 429]);
  });

  it('does not count a request that validation refuses for its e-mail', async () => {
    const address = '192.0.2.5';
    for (const _ of times(6, () => 0))
      expect(await login(address, 'nobody')).toMatchObject(invalidFields('email'));
    expect(await login(address)).toMatchObject(invalidCredentials);
  });

  it('refuses what the limit of the e-mail does not count, and names the longest wait if both refuse', async () => {
    const [address, email] = ['192.0.2.7', anEmail()];
    for (const used of [email, email, ...times(3, () => anEmail())]) await login(address, used);
    const uncounted = await login(address);
    expect(uncounted).toMatchObject(rateLimited);
    expect(uncounted.headers.get('ratelimit')).toMatch(/^"login";r=2;t=3600, "address";r=0;t=1[78]\d\d$/);
    const refused = await login(address, email);
    expect(refused).toMatchObject(rateLimited);
    expect(refused.body).toMatchObject({ detail: expect.stringMatching(/email/) });
    expect(retryAfter(refused)).toBeGreaterThan(3000);
  });
});

const LONG = 'x'.repeat(2000);

const loggedAddresses = ({ logs }: Service) =>
  logs.flatMap((line) => /"msg":"request".*"ip":"([^"]*)"/.exec(line)?.[1] ?? []);

describe('limits behind a trusted proxy', () => {
  const login = async (email: string, forwardedFor: string, password = aPassword()): Promise<number> => {
    const anyone = proxied.anyone.with({ 'x-forwarded-for': forwardedFor });
    return (await logIn({ anyone }, { email, password })).status;
  };
  /** What logins to one account are answered, from each of these. */
  async function statusesOf(email: string, ...clients: string[]): Promise<number[]> {
    const statuses = [];
    for (const client of clients) statuses.push(await login(email, client));
    return statuses;
  }
  const victim = anEmail();

  const three = (client: string) => times(3, () => client);
  it.each([
    ['the first client', three('198.51.100.1')],
    [
      'a client with addresses that it has put in front',
      ['203.0.113.9, 198.51.100.2', '198.51.100.2', '10.1.2.3, 198.51.100.2'],
    ],
    ['a client behind two proxies', ['198.51.100.3, 10.0.0.7', '198.51.100.3, 10.0.0.8', '198.51.100.3']],
    ['a /64 of IPv6', ['2001:db8:1:2::1', '2001:0DB8:1:2:ffff::2', '2001:db8:1:2:0:0:0:3']],
    ['the next /64', three('2001:db8:1:3::1')],
    ['an IPv4-mapped address', ['::ffff:198.51.100.7', '198.51.100.7', '::ffff:c633:6407']],
    ['the next IPv4-mapped address', three('::ffff:198.51.100.8')],
    ['an IPv4 address with ports', ['198.51.100.20:40001', '198.51.100.20:40002', '198.51.100.20']],
    ['an IPv6 address with ports', ['[2001:db8:20::1]:40001', '[2001:db8:20::1]', '2001:db8:20::2']],
    [
      'a client of proxies with ports',
      ['198.51.100.21, 10.0.0.7:40001', '198.51.100.21:40001, 10.0.0.8:443', '198.51.100.21'],
    ],
    [
      'a client of an IPv4-mapped proxy',
      ['2001:db8:21::1, [::ffff:10.0.0.7]:443', '[2001:db8:21::2], 10.0.0.7', '2001:db8:21::3'],
    ],
  ])('count the logins of %s together, and apart from all others', async (_what, addresses) => {
    expect(await statusesOf(victim, ...addresses)).toEqual([401, 401, 429]);
  });

  it('count text that is not an address as the proxy', async () => {
    const noAddresses = ['198.51.100.1:port', '[198.51.100.1', '', '::::', ', ,', '999.1.1.1', LONG];
    const statuses = await statusesOf(
      anEmail(),
      'unknown',
      '_hidden, 10.0.0.7',
      ...noAddresses,
      '198.51.100.1',
    );
    expect(statuses).toEqual([401, 401, ...noAddresses.map(() => 429), 401]);
  });

  it('appear in the log with the address only', async () => {
    await login(anEmail(), '[2001:0DB8:0022::0001]:40001');
    await login(anEmail(), '198.51.100.22:40001');
    await login(anEmail(), 'no address');
    await expect
      .poll(() => loggedAddresses(proxied).slice(-3), { timeout: hangTimeoutMs() })
      .toEqual(['2001:db8:22::1', '198.51.100.22', '127.0.0.1']);
  });

  it('do not lock out the victim of an attack', async () => {
    const ada = await anAccount(proxied, 'ada');
    for (let attempt = 0; attempt < 5; attempt += 1) await login(ada.email, '203.0.113.66');
    expect(await login(ada.email, '198.51.100.1', ada.password)).toBe(200);
  });
});
