import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import { invalidChallenge, invalidCredentials, invalidFields, rateLimited } from '../support/expected.js';
import { anEmail, anUnknownId, aPassword } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const retryAfter = ({ headers }: Answer): number => Number(headers.get('retry-after'));

function limitedBy(env: Record<string, string>) {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ env: { TRUST_PROXY: '127.0.0.1', ...env } });
  });
  afterAll(() => service.stop());
  const post = (door: string, address: string, email = anEmail()): Promise<Answer> =>
    service.anyone
      .with({ 'x-forwarded-for': address })
      .post(`/api/auth/${door}`, { email, password: aPassword() });
  return {
    login: (address: string, email?: string) => post('login', address, email),
    secondStep: (address: string, challenge: unknown) =>
      service.anyone
        .with({ 'x-forwarded-for': address })
        .post('/api/auth/login/second-factor', { challenge, code: '123456' }),
    register: (address: string, email?: string) => post('register', address, email),
  };
}

describe('the limit of an address', () => {
  const { login, register, secondStep } = limitedBy({ RATE_LIMIT_ADDRESS: '5/1h', RATE_LIMIT_LOGIN: '2/1h' });

  it('counts its registrations and logins together, whatever the e-mail', async () => {
    const [address, other] = ['198.51.100.1', '198.51.100.2'];

    for (const _ of times(3, () => 0)) expect((await register(address)).status).toBe(201);
    for (const _ of times(2, () => 0)) expect(await login(address)).toMatchObject(invalidCredentials);

    for (const refused of [await login(address), await register(address)]) {
      expect(refused).toMatchObject(rateLimited);
      expect(refused.body).toMatchObject({ detail: expect.stringMatching(/^[^@]*\baddress\b/) });
      expect(refused.body).not.toMatchObject({ detail: expect.stringMatching(/e-mail/) });
      expect(retryAfter(refused)).toBeGreaterThan(3000);
    }
    expect(await login(other)).toMatchObject(invalidCredentials);
  });

  it('counts the second steps of logins among them, whatever their challenges are', async () => {
    const address = '198.51.100.6';
    await login(address);
    for (const challenge of ['', 'x', anUnknownId(), '1']) {
      expect(await secondStep(address, challenge)).toMatchObject(invalidChallenge);
    }

    expect(await secondStep(address, 'y')).toMatchObject(rateLimited);
    expect(await login(address)).toMatchObject(rateLimited);
  });

  it('counts IPv6 by its /56', async () => {
    for (const subnet of times(5, (index) => `20${index}`)) {
      expect(await login(`[2001:db8:1:${subnet}::1]:40001`)).toMatchObject(invalidCredentials);
    }

    expect(await login('2001:db8:1:2ff::1')).toMatchObject(rateLimited);
    expect(await login('2001:db8:1:300::1')).toMatchObject(invalidCredentials);
  });

  it('is reported beside that of the e-mail, as a list', async () => {
    const address = '198.51.100.3';
    await register(address);

    const { headers } = await login(address);

    expect(headers.get('ratelimit-policy')).toBe('"login";q=2;w=3600, "address";q=5;w=3600');
    expect(headers.get('ratelimit')).toMatch(/^"login";r=1;t=3600, "address";r=3;t=3[56]\d\d$/);
  });

  it('does not count requests that the limit of the e-mail refuses', async () => {
    const [address, email] = ['198.51.100.4', anEmail()];
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
    const address = '198.51.100.5';
    for (const _ of times(6, () => 0)) {
      expect(await login(address, 'nobody')).toMatchObject(invalidFields('email'));
    }

    expect(await login(address)).toMatchObject(invalidCredentials);
  });
});

describe('a request that the limit of an address refuses', () => {
  const { login } = limitedBy({ RATE_LIMIT_ADDRESS: '1/5s', RATE_LIMIT_LOGIN: '1/1h' });

  it('is not counted by the limit of the e-mail', async () => {
    const [address, email] = ['198.51.100.1', anEmail()];
    await login(address);

    const refused = await login(address, email);
    expect(refused).toMatchObject(rateLimited);
    expect(refused.headers.get('ratelimit')).toMatch(/^"login";r=1;t=3600, "address";r=0;t=[1-5]$/);
    await pass(retryAfter(refused) * 1000);

    expect(await login(address, email)).toMatchObject(invalidCredentials);
  });

  it('gets the longest wait of the limits that refuse it', async () => {
    const [address, email] = ['198.51.100.2', anEmail()];
    await login(address, email);

    const refused = await login(address, email);

    expect(refused).toMatchObject(rateLimited);
    expect(refused.body).toMatchObject({ detail: expect.stringMatching(/e-mail/) });
    expect(retryAfter(refused)).toBeGreaterThan(3000);
  });
});
