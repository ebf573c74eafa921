import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, type TestOptions } from 'vitest';
import { freePort } from '../../client/src/free-port.ts';
import { atOnce, times } from '../support/at-once.js';
import { SLOW_HASH } from '../support/slow-hash.js';
import { type Account, anAccount, anEmail, anOrg, aPassword } from '../support/personas.js';
import type { Environment } from '../support/service-process.js';
import type { Instance } from '../support/service.js';
import { closeAfterAll, closeAfterTest, startInstance, Storage } from './support/deployment.js';
import { FaultProxy } from './support/fault-proxy.js';
import { report } from './support/figures.js';
import { expectRateLimits, rateLimitsAt, RedisServer } from './support/redis-server.js';
import { readFile } from 'node:fs/promises';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Authority } from '../support/certificates.js';
import { accountsJson, BY_ROOT } from '../support/accounts-command.js';
import { MailServer } from '../support/mail-server.js';
import { anOperator } from '../support/operators.js';

const LIMIT = 10;
const WINDOW_MS = 3000;
const REGISTRATIONS = 5;
const WRITES = 40;
/** 300 ms are promised beside the request itself; the rest is noise of the test machine, and more where it is busy */
const maxAnswerMs = (): number => hangTimeoutMs() / 30;
const recoveryMs = (): number => hangTimeoutMs() / 6;
const PASSWORD = 'a wrong battery staple';

const { installation } = await closeAfterAll(Storage.on('mariadb'));
const redis = await closeAfterAll(RedisServer.start());
const network = await closeAfterAll(FaultProxy.start(redis.port));
const env = {
  REDIS_URL: `redis://127.0.0.1:${network.port}`,
  RATE_LIMIT_LOGIN: `${LIMIT}/${WINDOW_MS / 1000}s`,
  RATE_LIMIT_REGISTER: `${REGISTRATIONS}/1h`,
  RATE_LIMIT_WRITES: `${WRITES}/1h`,
};
const started: Instance[] = [];
async function start(settings: Environment): Promise<Instance> {
  const instance = await startInstance(installation, settings);
  started.push(instance);
  return instance;
}
const instances = await Promise.all(times(3, () => closeAfterAll(start(env))));
const on = (turn: number): Instance => instances[turn % 3]!;

/** It serves before it has connected to Redis: the first login tells. */
async function another(limits: Environment): Promise<Instance> {
  const instance = await closeAfterTest(start({ ...env, ...limits }));
  await login(instance, anEmail());
  await expectRateLimits('ok', [instance]);
  await redis.command('FLUSHALL');
  return instance;
}

async function login(instance: Instance, email: string) {
  const startedAt = performance.now();
  const { status, headers } = await instance.anyone.post('/api/auth/login', { email, password: PASSWORD });
  return { status, retryAfter: headers.get('retry-after'), startedAt, endedAt: performance.now() };
}

type Attempt = Awaited<ReturnType<typeof login>>;

/** Simultaneous logins of an unknown email; 401 means admitted. */
function logins(count: number, at: readonly Instance[], email = anEmail()): Promise<Attempt[]> {
  return atOnce(times(count, (i) => () => login(at[i % at.length]!, email)));
}

const count = (answers: { status: number }[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;
const expectAdmitted = (attempts: { status: number }[], admitted: number): void =>
  expect([count(attempts, 401), count(attempts, 429)]).toEqual([admitted, attempts.length - admitted]);
const longest = (attempts: Attempt[]): number =>
  Math.max(...attempts.map(({ startedAt, endedAt }) => endedAt - startedAt));
const warningsOf = ({ logs }: Instance): string[] =>
  logs.filter((line) => line.includes('Redis does not answer'));
const warnings = (): number[] => instances.map((instance) => warningsOf(instance).length);
const untilWarned = (instance: Instance): Promise<string[]> =>
  waitFor('a warning', hangTimeoutMs(), () => warningsOf(instance).length > 0 && warningsOf(instance));

async function untilShared(among = instances): Promise<number> {
  const begin = performance.now();
  await expectRateLimits('ok', among, recoveryMs());
  return performance.now() - begin;
}

const fallbacks = (): number =>
  started.flatMap(warningsOf).filter((line) => line.includes('no answer in time')).length;
let fallbacksBefore = 0;

beforeEach(async () => {
  await untilShared();
  await redis.command('FLUSHALL');
  fallbacksBefore = fallbacks();
});

/** An instance counts by itself where this machine is so busy that Redis does not answer in time. */
const WHILE_SHARED: TestOptions = { retry: { count: 5, condition: () => fallbacks() > fallbacksBefore } };

it('admits exactly the limit of simultaneous logins over three instances', WHILE_SHARED, async () => {
  const rounds = 8;
  const asked = 60;
  for (let round = 0; round < rounds; round += 1) {
    const attempts = await logins(asked, instances);
    expectAdmitted(attempts, LIMIT);
    expect(attempts.every(({ status, retryAfter }) => status !== 429 || Number(retryAfter) > 0)).toBe(true);
  }
  report({ faults: rounds, requests: rounds * asked, wrong: 0 });
});

it('is reported by readiness when Redis goes and comes back, though nobody asks a limited route', async () => {
  await redis.freeze();
  await expectRateLimits('degraded', instances);
  redis.thaw();
  await expectRateLimits('ok', instances);
  report({ faults: 1, requests: 0, wrong: 0 });
});

it('admits exactly the limit of simultaneous registrations', WHILE_SHARED, async () => {
  const email = anEmail();
  const body = { email, password: aPassword() };
  const answers = await atOnce(times(30, (i) => () => on(i).anyone.post('/api/auth/register', body)));
  const counts = [201, 409, 429].map((status) => count(answers, status));
  expect(counts).toEqual([1, REGISTRATIONS - 1, 30 - REGISTRATIONS]);
  report({ faults: 1, requests: 30, wrong: 0 });
});

it(
  'admits exactly the limit of simultaneous changes of one user, and no fewer of another',
  WHILE_SHARED,
  async () => {
    const [busy, other] = await Promise.all([anAccount(on(0)), anAccount(on(1))]);
    const create = (index: number) => busy.at(on(index)).post('/api/orgs', { name: 'One of many' });

    const answers = await atOnce(times(3 * WRITES, (index) => () => create(index)));

    expect([count(answers, 201), count(answers, 429)]).toEqual([WRITES, 2 * WRITES]);
    for (const instance of instances) {
      expect((await other.at(instance).post('/api/orgs', { name: 'Of somebody else' })).status).toBe(201);
    }
    report({ faults: 0, requests: 3 * WRITES + 3, wrong: 0 });
  },
);

it('counts all spellings of an e-mail together', WHILE_SHARED, async () => {
  const email = anEmail();
  const spellings = [email, email.toUpperCase(), email.replace('someone', 'SomeOne')];
  const spelling = (i: number) => spellings[Math.floor(i / 3) % 3]!;
  expectAdmitted(await atOnce(times(39, (i) => () => login(on(i), spelling(i)))), LIMIT);
  report({ faults: 1, requests: 39, wrong: 0 });
});

it('holds the limit in every window, wherever it starts, and uses all of it', WHILE_SHARED, async () => {
  const email = anEmail();
  const attempts: Attempt[] = [];
  const begin = performance.now();
  for (let i = 0; performance.now() - begin < 4 * WINDOW_MS; i += 1) {
    attempts.push(await login(on(i), email));
    // An uneven rhythm, so that admissions spread over the window and leave it one by one.
    await sleep(Math.random() * (i % 40 < 20 ? 5 : 120));
  }
  expect(count(attempts, 401) + count(attempts, 429)).toBe(attempts.length);

  const admitted = attempts.filter(({ status }) => status === 401);
  const tooMany = admitted.filter(({ startedAt }, i) => {
    const next = admitted[i + LIMIT];
    return next !== undefined && next.endedAt - startedAt < WINDOW_MS;
  });
  expect(tooMany).toEqual([]);
  expect(admitted.length).toBeGreaterThanOrEqual(3 * LIMIT);
  report({ faults: 1, requests: attempts.length, wrong: tooMany.length });
});

it('admits after the wait that Retry-After names', WHILE_SHARED, async () => {
  const email = anEmail();
  await logins(LIMIT, instances, email);
  const refused = await login(on(1), email);
  expect(refused.status).toBe(429);
  await sleep(Number(refused.retryAfter) * 1000);
  expect((await login(on(2), email)).status).toBe(401);
  report({ faults: 1, requests: LIMIT + 2, wrong: 0 });
});

it('refuses, and says for how long, where fewer are admitted than have been', WHILE_SHARED, async () => {
  const stricter = await another({ RATE_LIMIT_LOGIN: `2/${WINDOW_MS / 1000}s` });
  const email = anEmail();
  expect(count(await logins(LIMIT, instances, email), 401)).toBe(LIMIT);
  const { status, headers } = await stricter.anyone.post('/api/auth/login', { email, password: PASSWORD });
  expect([status, headers.get('ratelimit')]).toEqual([429, expect.stringMatching(/"login";r=0;t=\d/)]);
  await sleep(Number(headers.get('retry-after')) * 1000);
  expect((await login(stricter, email)).status).toBe(401);
});

it('stores no e-mail in Redis, and nothing without an expiry', async () => {
  const email = anEmail('secret-person');
  await logins(3, instances, email);
  await on(0).anyone.post('/api/auth/register', { email, password: aPassword() });
  const keys = await redis.command('KEYS', '*');
  expect(keys).toContain('accounts:rate-limit:');
  expect(keys).not.toMatch(/@|secret-person|example|127\.0\.0\.1/);
  const names = keys.split('\r\n').filter((line) => line.startsWith('accounts:'));
  const lifetimes = await Promise.all(names.map((name) => redis.command('PTTL', name)));
  // -2: it expired meanwhile.
  expect(lifetimes.filter((reply) => !/^:(?:[1-9]|-2)/.test(reply))).toEqual([]);
  report({ requests: 4, wrong: 0 });
});

it(
  'counts by e-mail and by address in one step: neither counts what the other refuses',
  WHILE_SHARED,
  async () => {
    const addressLimit = 25;
    const limits = { RATE_LIMIT_LOGIN: `${LIMIT}/15m`, RATE_LIMIT_IP: `${addressLimit}/15m` };
    const pair = [await another(limits), await another(limits)];
    const asked = 4 * addressLimit;

    expectAdmitted(await logins(asked, pair), LIMIT);
    const many = await atOnce(times(asked, (i) => () => login(pair[i % 2]!, anEmail())));

    expectAdmitted(many, addressLimit - LIMIT);
    report({ requests: 2 * asked, wrong: 0 });
  },
);

it('counts only additions of unknown e-mails, over all instances', WHILE_SHARED, async () => {
  const lookups = 5;
  const limits = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOOKUP: `${lookups}/1h` };
  const pair = [await another(limits), await another(limits)] as const;
  const { org, owner, outsider } = await anOrg(pair[0]);
  const add = (i: number, email: string) =>
    owner.at(pair[i % 2]!).post(`/api/orgs/${org.id}/members`, { email, role: 'member' });
  for (let i = 0; i < 2 * lookups; i += 1) expect((await add(i, owner.email)).status).toBe(409);

  const answers = await atOnce(times(30, (i) => () => add(i, anEmail())));

  expect([count(answers, 404), count(answers, 429)]).toEqual([lookups, 30 - lookups]);
  expect((await add(0, outsider.email)).status).toBe(429);
  report({ requests: 2 * lookups + 31, wrong: 0 });
});

it('uncounts a login that got no hash, over all instances', WHILE_SHARED, async () => {
  // More than one instance queues in all.
  const asked = 200;
  const limits = { ...SLOW_HASH, RATE_LIMIT_LOGIN: `${2 * asked}/15m` };
  const pair = [await another(limits), await another(limits)] as const;
  const email = anEmail();
  const attempts = await logins(asked, [pair[0]], email);
  const [hashed, refused] = [count(attempts, 401), count(attempts, 503)];
  const { status, headers } = await pair[1].anyone.post('/api/auth/login', { email, password: PASSWORD });
  expect(refused).toBe(asked - hashed);
  expect(status).toBe(401);
  expect(headers.get('ratelimit')).toContain(`;r=${2 * asked - hashed - 1};`);
  expect(refused).toBeGreaterThan(LIMIT);
  report({ requests: asked + 1, faults: refused, wrong: 0 });
});

const replicate = (host: string, port: number | string) => redis.command('REPLICAOF', host, String(port));
const configure = (memory: string) => redis.command('CONFIG', 'SET', 'maxmemory', memory);

it.each<[name: string, begin: () => Promise<unknown>, end: () => Promise<unknown>]>([
  ['killed', () => redis.kill(), () => redis.restart()],
  ['frozen', () => redis.freeze(), async () => redis.thaw()],
  ['slow (0.5 s each way)', () => network.delay(500), network.pass],
  ['behind a network that drops packets', network.drop, network.pass],
  ['refusing connections', network.refuse, network.pass],
  ['a read-only replica', async () => replicate('127.0.0.1', await freePort()), () => replicate('NO', 'ONE')],
  ['out of memory', () => configure('1'), () => configure('0')],
])('limits by itself while Redis is %s, and shares again afterwards', async (_name, begin, end) => {
  const before = warnings();
  const asked = 3 * LIMIT;
  expect(count(await logins(asked, instances), 401)).toBe(LIMIT);

  await begin();
  const during: Attempt[] = [];
  try {
    for (let round = 0; round < 3; round += 1) {
      const email = anEmail();
      for (const own of await Promise.all(instances.map((instance) => logins(asked, [instance], email)))) {
        expectAdmitted(own, LIMIT);
        during.push(...own);
      }
      expect(await rateLimitsAt(instances)).toEqual(instances.map(() => 'degraded'));
      await sleep(1200);
    }
  } finally {
    await end();
  }
  const recoveriesMs = [await untilShared()];
  expect(longest(during)).toBeLessThan(maxAnswerMs());
  expect(count(await logins(asked, instances), 401)).toBe(LIMIT);
  expect(warnings()).toEqual(before.map((lines) => lines + 1));
  const requests = during.length + 2 * asked;
  report({ faults: 1, requests, wrong: 0, longestAnswerMs: longest(during), recoveriesMs });
});

it('never fails, nor admits more than the limit for each instance, when Redis goes down under load', async () => {
  const rounds = 3;
  const all: Attempt[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const email = anEmail();
    const attempts: Attempt[] = [];
    const end = performance.now() + 1500;
    const load = atOnce(
      times(12, (i) => async () => {
        while (performance.now() < end) attempts.push(await login(on(i), email));
      }),
    );
    await sleep(200 + Math.random() * 300);
    await redis.kill();
    await load;
    expect(count(attempts, 401) + count(attempts, 429)).toBe(attempts.length);
    // The shared window admitted some before, and then each instance's own did.
    expect(count(attempts, 401)).toBeLessThanOrEqual(4 * LIMIT);
    all.push(...attempts);
    await redis.restart();
    await untilShared();
  }
  expect(longest(all)).toBeLessThan(maxAnswerMs());
  report({ faults: rounds, requests: all.length, wrong: 0, longestAnswerMs: longest(all) });
});

it('keeps sharing after keys and scripts were flushed', WHILE_SHARED, async () => {
  const before = warnings();
  const email = anEmail();
  expect(count(await logins(30, instances, email), 401)).toBe(LIMIT);
  await redis.command('FLUSHALL');
  await redis.command('SCRIPT', 'FLUSH');
  const attempts = await logins(30, instances, email);
  expectAdmitted(attempts, LIMIT);
  expect(warnings()).toEqual(before);
  report({ faults: 1, requests: 60, wrong: 0, longestAnswerMs: longest(attempts) });
});

it('starts while Redis is down, limits by itself, and shares once Redis is up', async () => {
  await redis.kill();
  const late = await closeAfterTest(start(env));
  const attempts = await logins(3 * LIMIT, [late]);
  expectAdmitted(attempts, LIMIT);
  expect(await rateLimitsAt([late])).toEqual(['degraded']);
  expect(await untilWarned(late)).toHaveLength(1);

  await redis.restart();
  const recoveriesMs = [await untilShared([late])];
  await sleep(1500);
  expect(count(await logins(40, [...instances, late]), 401)).toBe(LIMIT);
  report({ faults: 1, requests: 70, wrong: 0, longestAnswerMs: longest(attempts), recoveriesMs });
});

const statusOf = async (at: Instance, email: string, password = aPassword()): Promise<number> =>
  (await at.anyone.post('/api/auth/login', { email, password })).status;

describe('a limit that a reset of the password lifts', async () => {
  const store = await closeAfterAll(RedisServer.start());
  const mailServer = await closeAfterAll(MailServer.start());
  const settings = { ...mailServer.env, REDIS_URL: store.url, RATE_LIMIT_FORGOT: 'off' };
  const services = await Promise.all(times(3, () => closeAfterAll(start(settings))));
  const [here] = services as [Instance];

  async function anAccountThatFailedOften(): Promise<Account> {
    const ada = await anAccount(here, 'ada');
    await atOnce(times(LIMIT, (i) => () => statusOf(services[i % 3]!, ada.email)));
    for (const at of services) expect(await statusOf(at, ada.email)).toBe(429);
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

  it('is lifted on every instance at once', WHILE_SHARED, async () => {
    const ada = await anAccountThatFailedOften();

    const password = await resetPassword(ada);

    for (const at of services) expect(await statusOf(at, ada.email, password)).toBe(200);
    // Those three count, and the attempts before the reset do not.
    await atOnce(times(LIMIT - 3, () => () => statusOf(services[1]!, ada.email)));
    for (const at of services) expect(await statusOf(at, ada.email, password)).toBe(429);
  });

  it(
    'is lifted by an operator as well, over HTTP at once and by a command within a poll',
    WHILE_SHARED,
    async () => {
      const operator = await anOperator(here);
      const [ada, grace] = [await anAccountThatFailedOften(), await anAccountThatFailedOften()];
      const at = `/api/operators/users/${ada.id}/unblock`;
      expect((await operator.post(at, { reason: 'called back' })).status).toBe(200);
      for (const each of services) expect(await statusOf(each, ada.email, ada.password)).toBe(200);
      await accountsJson(installation, ['users', 'unblock', grace.email, ...BY_ROOT]);
      for (const each of services) {
        const status = () => statusOf(each, grace.email, grace.password);
        await expect.poll(status, { timeout: hangTimeoutMs() }).toBe(200);
      }
    },
  );

  it('is shown to operators by every instance and by a command, and looking counts nothing', async () => {
    const [operator, ada] = [await anOperator(here), await anAccount(here, 'ada')];
    interface Shown {
      loginLimits: { limit: string }[];
      loginLimitsOf: string;
      failedLogins: { lastIp: string | null };
    }
    const shown = async (at: Instance) =>
      (await operator.at(at).get<{ user: Shown }>(`/api/operators/users/${ada.id}`)).body.user;
    await atOnce(times(LIMIT - 1, (i) => () => statusOf(services[i % 3]!, ada.email)));
    const lastIp = async () => (await shown(here)).failedLogins.lastIp;
    await expect.poll(lastIp, { timeout: hangTimeoutMs() }).toBe('127.0.0.1');
    for (const at of [...services, ...services])
      expect(await shown(at)).toMatchObject({ loginLimits: [], loginLimitsOf: 'all' });
    expect(await statusOf(here, ada.email)).toBe(401);

    const held = { loginLimits: [{ limit: 'login' }], loginLimitsOf: 'all' };
    for (const at of services) expect(await shown(at)).toMatchObject(held);
    const command = ['users', 'show', ada.email];
    const byCommand = () => accountsJson(installation, command, { env: { REDIS_URL: store.url } });
    expect(await byCommand()).toMatchObject([held]);

    await store.freeze();
    expect(await shown(here)).toMatchObject({ loginLimitsOf: 'instance' });
    expect(await byCommand()).toMatchObject([{ loginLimits: [], loginLimitsOf: 'database' }]);
    store.thaw();
    await expectRateLimits('ok', services);
  });

  it('is lifted in Redis, too, once Redis answers again that was frozen', async () => {
    const ada = await anAccountThatFailedOften();

    await store.freeze();
    const password = await resetPassword(ada);
    store.thaw();

    const expectLifted = async (): Promise<void> => {
      for (const at of services)
        await expect.poll(() => statusOf(at, ada.email, password), { timeout: hangTimeoutMs() }).toBe(200);
    };
    await expectLifted();
    await expectRateLimits('ok', services);
    await expectLifted();
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
  const store = await closeAfterTest(RedisServer.start());
  const settings = { REDIS_URL: store.url, RATE_LIMIT_LOGIN: `${LIMIT}/15m` };
  const instance = await closeAfterTest(start(settings));
  const writeKeys = (name: string, many: number) =>
    store.command('EVAL', WRITE_KEYS, '0', name, String(many));
  const figure = async (section: string, name: string): Promise<string> =>
    new RegExp(`${name}:(\\d+)`).exec(await store.command('INFO', section))![1]!;

  const compose = await readFile('compose.yaml', 'utf8');
  const [, policy = ''] = /--maxmemory-policy, ([\w-]+)/.exec(compose) ?? [];
  await store.command('CONFIG', 'SET', 'maxmemory-policy', policy);
  await writeKeys('old:', OLD_KEYS);
  // The clock by which Redis knows what was used longest ago has whole seconds.
  await waitFor('the keys are old', hangTimeoutMs(), async () =>
    /^:[2-9]/.test(await store.command('OBJECT', 'IDLETIME', `old:${OLD_KEYS}`)),
  );
  await store.command('CONFIG', 'SET', 'maxmemory', await figure('memory', 'used_memory'));

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
  const store = await closeAfterAll(RedisServer.start(await ours.issue('DNS:localhost')));
  const elsewhere = await closeAfterAll(RedisServer.start(await ours.issue('DNS:store.example.com')));

  function twoInstances({ port }: RedisServer, ca: Authority | undefined): Promise<Instance[]> {
    const settings = {
      REDIS_URL: `rediss://localhost:${port}`,
      REDIS_SSL_CA: ca?.certificate,
      RATE_LIMIT_LOGIN: `${limit}/1h`,
    };
    return Promise.all(times(2, () => closeAfterTest(start(settings))));
  }

  async function admitted(services: Instance[]): Promise<number> {
    const email = anEmail();
    const statuses = await atOnce(times(asked, (i) => () => statusOf(services[i % 2]!, email)));
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    return statuses.filter((status) => status === 401).length;
  }

  it('shares the limits if the certificate of the server is valid', async () => {
    const services = await twoInstances(store, ours);

    // An instance that has just started on a busy machine may not have connected yet, and counts by itself until it has.
    await expect.poll(() => admitted(services), { timeout: 60_000 }).toBe(limit);
    report({ faults: 0, requests: asked, wrong: 0 });
  });

  it.each<[string, RedisServer, Authority | undefined]>([
    ['of an unknown authority', store, strange],
    ['of none of the usual authorities', store, undefined],
    ['for another name', elsewhere, ours],
  ])('limits by itself where the certificate is %s, and says why', async (_what, server, ca) => {
    const services = await twoInstances(server, ca);

    await expectRateLimits('degraded', services);
    for (const instance of services) {
      expect(await untilWarned(instance)).toEqual([expect.stringMatching(/certificate|does not match/)]);
    }
    expect(await admitted(services)).toBe(2 * limit);
    report({ faults: 1, requests: asked, wrong: 0 });
  });
});
