import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anEmail } from '../support/personas.js';
import type { Environment } from '../support/service-process.js';
import type { Instance } from '../support/service.js';
import { Authority } from '../support/certificates.js';
import { report } from './support/figures.js';
import { startInstances, stopAll } from './support/instance.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { RedisServer } from './support/redis-server.js';
import { waitFor } from '../../tooling/wait.js';

const LIMIT = 5;
const ASKED = 4 * LIMIT;

let ours: Authority;
let strange: Authority;
let database: MariaDbServer;
let installation: Installation;
/** Accepts nothing but TLS; the certificates of ours name `localhost` in the first, another host in the second. */
let servers: { redis: RedisServer; elsewhere: RedisServer };
let instances: Instance[] = [];

beforeAll(async () => {
  [ours, strange] = await Promise.all([Authority.create('ours'), Authority.create('strange')]);
  const certificates = [await ours.issue('DNS:localhost'), await ours.issue('DNS:redis.example.com')];
  const [redis, elsewhere] = await Promise.all(
    certificates.map((certificate) => RedisServer.start(certificate)),
  );
  servers = { redis: redis!, elsewhere: elsewhere! };
  database = await MariaDbServer.start();
  installation = await anInstallation({ mariadbPort: database.port });
});

afterEach(async () => {
  await stopAll(instances.splice(0));
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([servers.redis.close(), servers.elsewhere.close(), database.close()]);
});

async function start({ port }: RedisServer, ca: Authority | undefined): Promise<void> {
  const env: Environment = {
    REDIS_URL: `rediss://localhost:${port}`,
    REDIS_SSL_CA: ca?.certificate,
    RATE_LIMIT_LOGIN: `${LIMIT}/1h`,
  };
  instances = await startInstances(installation, [env, env]);
}

/** How many logins of one email are admitted, over both instances. */
async function admitted(): Promise<number> {
  const login = { email: anEmail(), password: 'a wrong battery staple' };
  const answers = await atOnce(
    times(ASKED, (i) => () => instances[i % 2]!.anyone.post('/api/auth/login', login)),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 401).length;
}

async function rateLimits(): Promise<string[]> {
  const answers = await Promise.all(
    instances.map(({ anyone }) => anyone.get<{ rateLimits: string }>('/health/ready')),
  );
  return answers.map(({ body }) => body.rateLimits);
}

it('shares the limits over TLS with a server whose certificate is valid', async () => {
  await start(servers.redis, ours);

  // A machine with much else to do may be too slow for the shared window once, but not every time.
  const together = await waitFor('limits are shared', 60_000, async () => {
    const count = await admitted();
    return count === LIMIT && count;
  });
  expect(together).toBe(LIMIT);
  report({ faults: 0, requests: ASKED, wrong: 0 });
});

it.each<[string, () => [RedisServer, Authority | undefined]]>([
  ['of an unknown authority', () => [servers.redis, strange]],
  ['of none of the usual authorities', () => [servers.redis, undefined]],
  ['for another name', () => [servers.elsewhere, ours]],
])('limits by itself where the certificate is %s, and says why', async (_what, choose) => {
  await start(...choose());

  await waitFor('both have noticed', 10_000, async () =>
    (await rateLimits()).every((state) => state === 'degraded'),
  );
  for (const { logs } of instances) {
    const warnings = await waitFor('the log says it', 10_000, async () => {
      const lines = logs.filter((line) => line.includes('Redis does not answer'));
      return lines.length > 0 && lines;
    });
    expect(warnings).toEqual([expect.stringMatching(/certificate|does not match/)]);
  }
  expect(await admitted()).toBe(2 * LIMIT);
  report({ faults: 1, requests: ASKED, wrong: 0 });
});
