import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anEmail, aPassword } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { startInstance, stopAll } from './support/instance.js';
import { RedisServer } from './support/redis-server.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const LIMIT = 10;
const REFUSED_BODIES = 300;
/** counters of one hour, which outlive those of logins */
const OLD_KEYS = 2000;
const GUESSES = 30;
/** 30 times this many are fewer than the old keys, so that an evicted key is never a recent one. */
const NEW_KEYS = 30;

const WRITE_KEYS = `for i = 1, tonumber(ARGV[2]) do
  redis.call('RPUSH', ARGV[1] .. i, string.rep('1', 200))
  redis.call('PEXPIRE', ARGV[1] .. i, 3600000)
end`;

let redis: RedisServer;
let installation: Installation;
let instance: Instance;

beforeAll(async () => {
  redis = await RedisServer.start();
  installation = await anInstallation({ engine: 'sqlite' });
  instance = await startInstance(installation, { REDIS_URL: redis.url, RATE_LIMIT_LOGIN: `${LIMIT}/15m` });
});
afterAll(async () => {
  await stopAll([instance]);
  await installation.remove();
  await redis.close();
});

const keysInRedis = async (): Promise<number> => {
  const reply = await redis.command('EVAL', "return #redis.call('KEYS', 'accounts:rate-limit:*')", '0');
  return Number(reply.slice(1));
};
const writeKeys = (name: string, count: number): Promise<string> =>
  redis.command('EVAL', WRITE_KEYS, '0', name, String(count));

it('bodies that validation refuses leave no counter in Redis', async () => {
  await instance.anyone.post('/api/auth/login', { email: anEmail(), password: aPassword() });
  const before = await keysInRedis();
  expect(before).toBeGreaterThan(0);

  const refused = await atOnce(
    times(
      REFUSED_BODIES,
      () => () => instance.anyone.post('/api/auth/register', { email: anEmail(), password: 'x' }),
    ),
  );

  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([400]));
  expect(await keysInRedis()).toBeLessThanOrEqual(before + 1);
});

it('a full Redis, as compose.yaml configures it, keeps the counter of a login that is being guessed', async () => {
  const compose = await readFile('compose.yaml', 'utf8');
  const [, policy = ''] = /--maxmemory-policy, ([\w-]+)/.exec(compose) ?? [];
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', policy);
  await writeKeys('old:', OLD_KEYS);
  // The clock by which Redis knows what was used longest ago has whole seconds.
  await waitFor('the keys are old', hangTimeoutMs(), async () =>
    /^:[2-9]/.test(await redis.command('OBJECT', 'IDLETIME', `old:${OLD_KEYS}`)),
  );
  const used = /used_memory:(\d+)/.exec(await redis.command('INFO', 'memory'))?.[1];
  await redis.command('CONFIG', 'SET', 'maxmemory', String(used));

  const email = anEmail();
  let admitted = 0;
  for (let guess = 0; guess < GUESSES; guess += 1) {
    const { status } = await instance.anyone.post('/api/auth/login', { email, password: aPassword() });
    admitted += Number(status === 401);
    await writeKeys(`new:${guess}:`, NEW_KEYS);
  }

  const evicted = Number(/evicted_keys:(\d+)/.exec(await redis.command('INFO', 'stats'))?.[1]);
  expect(evicted).toBeGreaterThan(OLD_KEYS / 10);
  expect(admitted).toBe(LIMIT);
});
