import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

describe('limits behind a trusted proxy', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8', RATE_LIMIT_LOGIN: '2/1h' } });
  });
  afterAll(() => service.stop());

  const login = async (email: string, forwardedFor: string, password = aPassword()): Promise<number> => {
    const caller = service.anyone.with({ 'x-forwarded-for': forwardedFor });
    return (await caller.post('/api/auth/login', { email, password })).status;
  };

  it('tell clients apart', async () => {
    const email = anEmail();

    for (const client of ['198.51.100.1', '198.51.100.2', '2001:db8::1']) {
      expect([await login(email, client), await login(email, client), await login(email, client)]).toEqual([
        401, 401, 429,
      ]);
    }
  });

  it('believe no address that the client put in front', async () => {
    const email = anEmail();
    await login(email, '198.51.100.1');
    await login(email, '203.0.113.9, 198.51.100.1');

    expect(await login(email, '203.0.113.10, 198.51.100.1')).toBe(429);
    expect(await login(email, '10.1.2.3, 198.51.100.1')).toBe(429);
  });

  it('look through a second trusted proxy', async () => {
    const email = anEmail();
    await login(email, '198.51.100.1, 10.0.0.7');
    await login(email, '198.51.100.1, 10.0.0.8');

    expect(await login(email, '198.51.100.1')).toBe(429);
    expect(await login(email, '198.51.100.2, 10.0.0.7')).toBe(401);
  });

  it('count IPv6 by its /64', async () => {
    const email = anEmail();
    await login(email, '2001:db8:1:2::1');
    await login(email, '2001:0DB8:1:2:ffff::2');

    expect(await login(email, '2001:db8:1:2:0:0:0:3')).toBe(429);
    expect(await login(email, '2001:db8:1:3::1')).toBe(401);
  });

  it('count an IPv4-mapped address as the IPv4 address', async () => {
    const email = anEmail();
    await login(email, '::ffff:198.51.100.7');
    await login(email, '198.51.100.7');

    expect(await login(email, '::ffff:c633:6407')).toBe(429);
    expect(await login(email, '::ffff:198.51.100.8')).toBe(401);
  });

  it('do not lock out a victim whom somebody else attacks', async () => {
    const ada = await anAccount(service, 'ada');
    for (let attempt = 0; attempt < 5; attempt += 1) await login(ada.email, '203.0.113.66');

    expect(await login(ada.email, '198.51.100.1', ada.password)).toBe(200);
  });

  it.each(['', 'unknown', 'x'.repeat(2000), '::::', '198.51.100.1:4711', ', ,', '999.1.1.1'])(
    'survive a header that is no list of addresses: %j',
    async (forwardedFor) => {
      expect(await login(anEmail(), forwardedFor)).toBe(401);
    },
  );
});
