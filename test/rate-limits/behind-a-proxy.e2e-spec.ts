import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const LONG = 'x'.repeat(2000);

function loggedAddresses({ logs }: Service): string[] {
  return logs.flatMap((line) => /"msg":"request".*"ip":"([^"]*)"/.exec(line)?.[1] ?? []);
}

it('the default limit of logins holds for one address that comes from many ports', async () => {
  const service = await startService({ env: { TRUST_PROXY: '127.0.0.1' } });
  const body = { email: anEmail(), password: aPassword() };

  const answers = [];
  for (const port of times(14, (index) => 40_000 + index)) {
    const caller = service.anyone.with({ 'x-forwarded-for': `198.51.100.7:${port}` });
    answers.push((await caller.post('/api/auth/login', body)).status);
  }

  expect(answers).toEqual([...times(10, () => 401), ...times(4, () => 429)]);
  await service.stop();
});

const service = await startService({
  env: { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8', RATE_LIMIT_LOGIN: '2/1h' },
});
afterAll(() => service.stop());

describe('limits behind a trusted proxy', () => {
  const login = async (email: string, forwardedFor: string, password = aPassword()): Promise<number> => {
    const caller = service.anyone.with({ 'x-forwarded-for': forwardedFor });
    return (await caller.post('/api/auth/login', { email, password })).status;
  };

  it('distinguish clients', async () => {
    const email = anEmail();

    for (const client of ['198.51.100.1', '198.51.100.2', '2001:db8::1']) {
      expect([await login(email, client), await login(email, client), await login(email, client)]).toEqual([
        401, 401, 429,
      ]);
    }
  });

  it('ignore addresses that the client has put in front', async () => {
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

  it('count the address without its port, at any hop', async () => {
    for (const [client, ...others] of [
      ['198.51.100.20:40001', '198.51.100.20:40002', '198.51.100.20'],
      ['[2001:db8:20::1]:40001', '[2001:db8:20::1]', '2001:db8:20::2'],
      ['198.51.100.21, 10.0.0.7:40001', '198.51.100.21:40001, 10.0.0.8:443', '198.51.100.21'],
      ['2001:db8:21::1, [::ffff:10.0.0.7]:443', '[2001:db8:21::2], 10.0.0.7', '2001:db8:21::3'],
    ] as const) {
      const email = anEmail();
      expect(await login(email, client), client).toBe(401);
      expect(await login(email, others[0]), others[0]).toBe(401);
      expect(await login(email, others[1]), others[1]).toBe(429);
    }
  });

  it('count text that is not an address as the proxy', async () => {
    const email = anEmail();
    await login(email, 'unknown');
    await login(email, '_hidden, 10.0.0.7');

    for (const noAddress of ['198.51.100.1:port', '[198.51.100.1', '', '::::', ', ,', '999.1.1.1', LONG]) {
      expect(await login(email, noAddress), noAddress).toBe(429);
    }
    expect(await login(email, '198.51.100.1')).toBe(401);
  });

  it('appear in the log with the address only', async () => {
    await login(anEmail(), '[2001:0DB8:0022::0001]:40001');
    await login(anEmail(), '198.51.100.22:40001');
    await login(anEmail(), 'no address');

    await expect
      .poll(() => loggedAddresses(service).slice(-3), { timeout: hangTimeoutMs() })
      .toEqual(['2001:db8:22::1', '198.51.100.22', '127.0.0.1']);
  });

  it('do not lock out the victim of an attack', async () => {
    const ada = await anAccount(service, 'ada');
    for (let attempt = 0; attempt < 5; attempt += 1) await login(ada.email, '203.0.113.66');

    expect(await login(ada.email, '198.51.100.1', ada.password)).toBe(200);
  });
});
