import { afterAll, beforeAll, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { type Account, anAccount, aPassword } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { startInstances, stopAll } from './support/instance.js';
import { RedisServer } from './support/redis-server.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const LIMIT = 10;

let database: MariaDbServer;
let redis: RedisServer;
let mailServer: MailServer;
let installation: Installation;
let instances: Instance[];

beforeAll(async () => {
  [database, redis, mailServer] = await Promise.all([
    MariaDbServer.start(),
    RedisServer.start(),
    MailServer.start(),
  ]);
  installation = await anInstallation({ mariadbPort: database.port });
  const env = { ...mailServer.env, REDIS_URL: redis.url, RATE_LIMIT_FORGOT: 'off' };
  instances = await startInstances(installation, [env, env, env]);
});
afterAll(async () => {
  await stopAll(instances);
  await installation.remove();
  await Promise.all([mailServer.stop(), redis.close(), database.close()]);
});

const statusOf = async (on: Instance, { email }: Account, password = aPassword()): Promise<number> =>
  (await on.anyone.post('/api/auth/login', { email, password })).status;

async function failOften(account: Account): Promise<void> {
  await atOnce(times(LIMIT, (i) => () => statusOf(instances[i % instances.length]!, account)));
  for (const on of instances) expect(await statusOf(on, account)).toBe(429);
}

async function resetPassword({ email }: Account, mails: number): Promise<string> {
  const [here] = instances as [Instance];
  await here.anyone.post('/api/auth/password/forgot', { email });
  const { code } = await mailServer.next(email, mails);
  installation.secrets.note(code);
  const newPassword = aPassword();
  const { status, text } = await here.anyone.post('/api/auth/password/reset', { email, code, newPassword });
  expect(status, text).toBe(200);
  return newPassword;
}

it('a reset of the password lifts the limit of logins on every instance at once', async () => {
  const ada = await anAccount(instances[0]!, 'ada');
  await failOften(ada);

  const password = await resetPassword(ada, 1);

  for (const on of instances) expect(await statusOf(on, ada, password)).toBe(200);
  // Those three count, and the attempts before the reset do not.
  await atOnce(times(LIMIT - instances.length, () => () => statusOf(instances[1]!, ada)));
  for (const on of instances) expect(await statusOf(on, ada, password)).toBe(429);
});

it('a limit that is lifted while Redis is frozen is lifted in Redis, too, once it answers again', async () => {
  const ada = await anAccount(instances[0]!, 'ada');
  await failOften(ada);

  await redis.freeze();
  const password = await resetPassword(ada, 1);
  redis.thaw();

  for (const on of instances)
    await expect.poll(() => statusOf(on, ada, password), { timeout: hangTimeoutMs() }).toBe(200);
  const isShared = async (on: Instance): Promise<unknown> =>
    (await on.anyone.get<{ rateLimits: string }>('/health/ready')).body.rateLimits;
  for (const on of instances)
    await expect.poll(() => isShared(on), { timeout: hangTimeoutMs() }).not.toBe('degraded');
  for (const on of instances)
    await expect.poll(() => statusOf(on, ada, password), { timeout: hangTimeoutMs() }).toBe(200);
});
