import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emailTaken, invalidCredentials, invalidFields, rateLimited } from '../support/expected.js';
import { times } from '../support/at-once.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { type Service, startService, startServiceWithoutLimits } from '../support/service.js';

describe('the default limits', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const login = (email: string, password = aPassword()) =>
    service.anyone.post('/api/auth/login', { email, password });

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

  it('refuse a body for its fields, not for the limit, once the limit is reached', async () => {
    const email = anEmail();
    for (const _ of times(10, () => 0)) await login(email);
    expect(await login(email)).toMatchObject(rateLimited);
    expect(await login(email, '')).toMatchObject(invalidFields('password'));
  });

  it('do not reveal whether the e-mail is known', async () => {
    const ada = await anAccount(service, 'ada');
    const seen = async (email: string) => {
      const answers = [];
      for (let attempt = 1; attempt <= 11; attempt += 1) {
        const { status, headers } = await login(email);
        answers.push([
          status,
          headers.get('ratelimit-policy'),
          headers.get('ratelimit')?.replace(/t=\d+/, 't'),
        ]);
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

    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect(await login(variants[attempt % variants.length]!)).toMatchObject(invalidCredentials);
    }
    for (const variant of variants) expect(await login(variant)).toMatchObject(rateLimited);
  });

  it('ignore headers that claim another address', async () => {
    const email = anEmail();
    const from = (address: string) =>
      service.anyone
        .with({
          'x-forwarded-for': address,
          forwarded: `for=${address}`,
          'x-real-ip': address,
          'cf-connecting-ip': address,
          'true-client-ip': address,
          'x-client-ip': address,
        })
        .post('/api/auth/login', { email, password: aPassword() });

    for (let attempt = 1; attempt <= 10; attempt += 1) {
      expect(await from(`198.51.100.${attempt}`)).toMatchObject(invalidCredentials);
    }
    expect(await from('198.51.100.99')).toMatchObject(rateLimited);
  });

  it('do not count a request that validation refuses for its e-mail, and no body breaks them', async () => {
    const bodies = [
      undefined,
      {},
      [],
      null,
      'x',
      0,
      { email: [] },
      { email: {} },
      { email: 5 },
      { email: 'x' },
    ];

    for (let round = 0; round < 20; round += 1) {
      for (const body of bodies) {
        for (const door of ['login', 'register']) {
          const { status } = await service.anyone.post(`/api/auth/${door}`, body);
          expect([JSON.stringify(body), status]).toEqual([JSON.stringify(body), 400]);
        }
      }
    }
  });

  it('admit exactly the limit of simultaneous requests', async () => {
    const email = anEmail();

    const answers = await Promise.all(times(40, () => login(email)));

    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });
});

describe('a sliding window', () => {
  it('never holds more than the limit, wherever it starts', async () => {
    const [limit, window] = [3, 2000];
    const service = await startService({ env: { RATE_LIMIT_LOGIN: '3/2s' } });
    const email = anEmail();
    const admitted: { sent: number; answered: number }[] = [];
    const login = async () => {
      const sent = performance.now();
      const { status } = await service.anyone.post('/api/auth/login', { email, password: aPassword() });
      if (status === 401) admitted.push({ sent, answered: performance.now() });
    };

    // One at the start of a window that would be fixed, the rest about its end, and more when it is over.
    await login();
    await pass(window - 300);
    const end = performance.now() + window;
    while (performance.now() < end || admitted.length <= limit) await login();

    // It was admitted some time between the two moments, so this is the longest that these can lie apart.
    const spans = admitted.slice(limit).map(({ answered }, index) => answered - admitted[index]!.sent);
    expect(spans.length).toBeGreaterThan(0);
    for (const span of spans) expect(span).toBeGreaterThanOrEqual(window);
    await service.stop();
  });

  it('admits a request after the wait that Retry-After names, refused ones in between or not', async () => {
    const service = await startService({ env: { RATE_LIMIT_LOGIN: '2/2s', RATE_LIMIT_REGISTER: '1/1s' } });
    const email = anEmail();
    const login = () => service.anyone.post('/api/auth/login', { email, password: aPassword() });
    // Together, or a slow machine has them in two windows.
    const answers = await Promise.all(times(4, login));

    const [refused, refusedToo] = answers.filter(({ status }) => status !== 401);
    expect(refused).toMatchObject(rateLimited);
    expect(refusedToo).toMatchObject(rateLimited);
    const wait = Number(refusedToo!.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(2);
    await pass(wait * 1000);

    expect(await login()).toMatchObject(invalidCredentials);
    await service.stop();
  });

  it('can be switched off', async () => {
    const service = await startServiceWithoutLimits();
    const email = anEmail();

    const answers = await Promise.all(
      times(12, () => service.anyone.post('/api/auth/login', { email, password: aPassword() })),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(answers[0]!.headers.get('ratelimit-policy')).toBeNull();
    await service.stop();
  });
});
