import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { atOnce, times } from '../support/at-once.js';
import { Authority } from '../support/certificates.js';
import { MailServer } from '../support/mail-server.js';
import { type Account, anAccount, anEmail, aPassword } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { closeAfterAll, closeAfterTest, startInstance, Storage } from './support/deployment.js';
import { report } from './support/figures.js';
import { RedisServer, expectRateLimits } from './support/redis-server.js';

const LIMIT = 10;

const { installation } = await closeAfterAll(Storage.on('mariadb'));

const statusOf = async (on: Instance, email: string, password = aPassword()): Promise<number> =>
  (await on.anyone.post('/api/auth/login', { email, password })).status;

describe('a limit that a reset of the password lifts', async () => {
  const [redis, mailServer] = [
    await closeAfterAll(RedisServer.start()),
    await closeAfterAll(MailServer.start()),
  ];
  const env = { ...mailServer.env, REDIS_URL: redis.url, RATE_LIMIT_FORGOT: 'off' };
  const instances = await Promise.all(times(3, () => closeAfterAll(startInstance(installation, env))));
  const [here] = instances as [Instance];

  async function anAccountThatFailedOften(): Promise<Account> {
    const ada = await anAccount(here, 'ada');
    await atOnce(times(LIMIT, (i) => () => statusOf(instances[i % 3]!, ada.email)));
    for (const on of instances) expect(await statusOf(on, ada.email)).toBe(429);
    return ada;
  }

  async function resetPassword({ email }: Account): Promise<string> {
    await here.anyone.post('/api/auth/password/forgot', { email });
    const { code } = await mailServer.next(email);
    installation.secrets.note(code);
    const newPassword = aPassword();
    const { status, text } = await here.anyone.post('/api/auth/password/reset', { email, code, newPassword });
    expect(status, text).toBe(200);
    return newPassword;
  }

  it('is lifted on every instance at once', async () => {
    const ada = await anAccountThatFailedOften();

    const password = await resetPassword(ada);

    for (const on of instances) expect(await statusOf(on, ada.email, password)).toBe(200);
    // Those three count, and the attempts before the reset do not.
    await atOnce(times(LIMIT - 3, () => () => statusOf(instances[1]!, ada.email)));
    for (const on of instances) expect(await statusOf(on, ada.email, password)).toBe(429);
  });

  it('is lifted in Redis, too, once Redis answers again that was frozen', async () => {
    const ada = await anAccountThatFailedOften();

    await redis.freeze();
    const password = await resetPassword(ada);
    redis.thaw();

    const isLifted = async () => {
      for (const on of instances)
        await expect.poll(() => statusOf(on, ada.email, password), { timeout: hangTimeoutMs() }).toBe(200);
    };
    await isLifted();
    await expectRateLimits('ok', instances);
    await isLifted();
  });
});

/** counters of one hour, which outlive those of logins */
const OLD_KEYS = 2000;
const GUESSES = 30;
/** 30 times this many are fewer than the old keys, so that an evicted key is never a recent one. */
const NEW_KEYS = 30;
const WRITE_KEYS = `for i = 1, tonumber(ARGV[2]) do
  redis.call('RPUSH', ARGV[1] .. i, string.rep('1', 200))
  redis.call('PEXPIRE', ARGV[1] .. i, 3600000)
end`;

it('a full Redis, as compose.yaml configures it, keeps the counter of a login that is being guessed', async () => {
  const redis = await closeAfterTest(RedisServer.start());
  const env = { REDIS_URL: redis.url, RATE_LIMIT_LOGIN: `${LIMIT}/15m` };
  const instance = await closeAfterTest(startInstance(installation, env));
  const writeKeys = (name: string, count: number) =>
    redis.command('EVAL', WRITE_KEYS, '0', name, String(count));
  const figure = async (section: string, name: string): Promise<string> =>
    new RegExp(`${name}:(\\d+)`).exec(await redis.command('INFO', section))![1]!;

  const compose = await readFile('compose.yaml', 'utf8');
  const [, policy = ''] = /--maxmemory-policy, ([\w-]+)/.exec(compose) ?? [];
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', policy);
  await writeKeys('old:', OLD_KEYS);
  // The clock by which Redis knows what was used longest ago has whole seconds.
  await waitFor('the keys are old', hangTimeoutMs(), async () =>
    /^:[2-9]/.test(await redis.command('OBJECT', 'IDLETIME', `old:${OLD_KEYS}`)),
  );
  await redis.command('CONFIG', 'SET', 'maxmemory', await figure('memory', 'used_memory'));

  const email = anEmail();
  let admitted = 0;
  for (let guess = 0; guess < GUESSES; guess += 1) {
    admitted += Number((await statusOf(instance, email)) === 401);
    await writeKeys(`new:${guess}:`, NEW_KEYS);
  }

  expect(Number(await figure('stats', 'evicted_keys'))).toBeGreaterThan(OLD_KEYS / 10);
  expect(admitted).toBe(LIMIT);
});

describe('Redis over TLS', async () => {
  const limit = 5;
  const asked = 4 * limit;

  const [ours, strange] = await Promise.all([Authority.create('ours'), Authority.create('strange')]);
  const redis = await closeAfterAll(RedisServer.start(await ours.issue('DNS:localhost')));
  const elsewhere = await closeAfterAll(RedisServer.start(await ours.issue('DNS:redis.example.com')));

  function twoInstances({ port }: RedisServer, ca: Authority | undefined): Promise<Instance[]> {
    const env = {
      REDIS_URL: `rediss://localhost:${port}`,
      REDIS_SSL_CA: ca?.certificate,
      RATE_LIMIT_LOGIN: `${limit}/1h`,
    };
    return Promise.all(times(2, () => closeAfterTest(startInstance(installation, env))));
  }

  /** How many logins of one email are admitted, over both instances. */
  async function admitted(instances: Instance[]): Promise<number> {
    const email = anEmail();
    const statuses = await atOnce(times(asked, (i) => () => statusOf(instances[i % 2]!, email)));
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    return statuses.filter((status) => status === 401).length;
  }

  it('shares the limits if the certificate of the server is valid', async () => {
    const instances = await twoInstances(redis, ours);

    // A machine with much else to do may be too slow for the shared window once, but not every time.
    await expect.poll(() => admitted(instances), { timeout: 60_000 }).toBe(limit);
    report({ faults: 0, requests: asked, wrong: 0 });
  });

  it.each<[string, RedisServer, Authority | undefined]>([
    ['of an unknown authority', redis, strange],
    ['of none of the usual authorities', redis, undefined],
    ['for another name', elsewhere, ours],
  ])('limits by itself where the certificate is %s, and says why', async (_what, server, ca) => {
    const instances = await twoInstances(server, ca);

    await expectRateLimits('degraded', instances);
    for (const { logs } of instances) {
      const warnings = await waitFor('the log says it', hangTimeoutMs(), () => {
        const lines = logs.filter((line) => line.includes('Redis does not answer'));
        return lines.length > 0 && lines;
      });
      expect(warnings).toEqual([expect.stringMatching(/certificate|does not match/)]);
    }
    expect(await admitted(instances)).toBe(2 * limit);
    report({ faults: 1, requests: asked, wrong: 0 });
  });
});
