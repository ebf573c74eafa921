import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { freePort } from '../../tooling/servers/free-port.js';
import { atOnce, times } from '../support/at-once.js';
import { besideLoginFlood, SLOW_HASH } from '../support/login-flood.js';
import { anAccount, anEmail, anOrg, aPassword } from '../support/personas.js';
import type { Environment } from '../support/service-process.js';
import type { Instance } from '../support/service.js';
import { closeAfterAll, closeAfterTest, startInstance, Storage } from './support/deployment.js';
import { FaultProxy } from './support/fault-proxy.js';
import { report } from './support/figures.js';
import { rateLimitsAt, RedisServer, expectRateLimits } from './support/redis-server.js';

const LIMIT = 10;
const WINDOW_MS = 3000;
const REGISTRATIONS = 5;
const WRITES = 40;
/** 300 ms are promised beside the request itself; the rest is noise of the test machine */
const MAX_ANSWER_MS = 1000;
const RECOVERY_MS = 5000;
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
const instances = await Promise.all(times(3, () => closeAfterAll(startInstance(installation, env))));
const on = (turn: number): Instance => instances[turn % 3]!;

/** Until the test ends: two more instances, with other limits. */
const aPair = async (limits: Environment): Promise<[Instance, Instance]> =>
  (await Promise.all(times(2, () => closeAfterTest(startInstance(installation, { ...env, ...limits }))))) as [
    Instance,
    Instance,
  ];

interface Attempt {
  status: number;
  retryAfter: string | null;
  startedAt: number;
  endedAt: number;
}

async function login(instance: Instance, email: string): Promise<Attempt> {
  const startedAt = performance.now();
  const { status, headers } = await instance.anyone.post('/api/auth/login', { email, password: PASSWORD });
  return { status, retryAfter: headers.get('retry-after'), startedAt, endedAt: performance.now() };
}

/** Simultaneous logins of an unknown email; 401 means admitted. */
function logins(count: number, at: readonly Instance[], email = anEmail()): Promise<Attempt[]> {
  return atOnce(times(count, (i) => () => login(at[i % at.length]!, email)));
}

const count = (answers: { status: number }[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;
/** So many were admitted, and all others refused. */
const expectAdmitted = (attempts: { status: number }[], admitted: number): void =>
  expect([count(attempts, 401), count(attempts, 429)]).toEqual([admitted, attempts.length - admitted]);
const longest = (attempts: Attempt[]): number =>
  Math.max(...attempts.map(({ startedAt, endedAt }) => endedAt - startedAt));
const warnings = (): number[] =>
  instances.map(({ logs }) => logs.filter((line) => line.includes('Redis does not answer')).length);

/** Milliseconds until limits are shared again. */
async function untilShared(among = instances): Promise<number> {
  const begin = performance.now();
  await expectRateLimits('ok', among, RECOVERY_MS);
  return performance.now() - begin;
}

it('admits exactly the limit of simultaneous logins over three instances', async () => {
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

it('admits exactly the limit of simultaneous registrations', async () => {
  const email = anEmail();
  const register = (i: number) => on(i).anyone.post('/api/auth/register', { email, password: aPassword() });
  const answers = await atOnce(times(30, (i) => () => register(i)));
  const counts = [201, 409, 429].map((status) => count(answers, status));
  expect(counts).toEqual([1, REGISTRATIONS - 1, 30 - REGISTRATIONS]);
  report({ faults: 1, requests: 30, wrong: 0 });
});

it('admits exactly the limit of simultaneous changes of one user, and no fewer of another', async () => {
  const [busy, other] = await Promise.all([anAccount(on(0)), anAccount(on(1))]);
  const create = (index: number) => busy.at(on(index)).post('/api/orgs', { name: 'One of many' });

  const answers = await atOnce(times(3 * WRITES, (index) => () => create(index)));

  expect([count(answers, 201), count(answers, 429)]).toEqual([WRITES, 2 * WRITES]);
  for (const instance of instances) {
    expect((await other.at(instance).post('/api/orgs', { name: 'Of somebody else' })).status).toBe(201);
  }
  report({ faults: 0, requests: 3 * WRITES + 3, wrong: 0 });
});

it('counts all spellings of an e-mail together', async () => {
  const email = anEmail();
  const spellings = [email, email.toUpperCase(), email.replace('someone', 'SomeOne')];
  const spelling = (i: number) => spellings[Math.floor(i / 3) % 3]!;
  expectAdmitted(await atOnce(times(39, (i) => () => login(on(i), spelling(i)))), LIMIT);
  report({ faults: 1, requests: 39, wrong: 0 });
});

it('holds the limit in every window, wherever it starts, and uses all of it', async () => {
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

it('admits after the wait that Retry-After names', async () => {
  const email = anEmail();
  await logins(LIMIT, instances, email);
  const refused = await login(on(1), email);
  expect(refused.status).toBe(429);
  await sleep(Number(refused.retryAfter) * 1000);
  expect((await login(on(2), email)).status).toBe(401);
  report({ faults: 1, requests: LIMIT + 2, wrong: 0 });
});

it('refuses, and says for how long, where fewer are admitted than have been', async () => {
  const [stricter] = await aPair({ RATE_LIMIT_LOGIN: `2/${WINDOW_MS / 1000}s` });
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

it('counts by e-mail and by address in one step: neither counts what the other refuses', async () => {
  const addressLimit = 25;
  const pair = await aPair({
    RATE_LIMIT_LOGIN: `${LIMIT}/15m`,
    RATE_LIMIT_IP: `${addressLimit}/15m`,
  });
  const asked = 4 * addressLimit;

  expectAdmitted(await logins(asked, pair), LIMIT);
  const many = await atOnce(times(asked, (i) => () => login(pair[i % 2]!, anEmail())));

  expectAdmitted(many, addressLimit - LIMIT);
  report({ requests: 2 * asked, wrong: 0 });
});

it('counts only additions of unknown e-mails, over all instances', async () => {
  const lookups = 5;
  const pair = await aPair({ RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOOKUP: `${lookups}/1h` });
  const { org, owner, outsider } = await anOrg(pair[0]);
  const add = (i: number, email: string) =>
    owner.at(pair[i % 2]!).post(`/api/orgs/${org.id}/members`, { email, role: 'member' });
  for (let i = 0; i < 2 * lookups; i += 1) expect((await add(i, owner.email)).status).toBe(409);

  const answers = await atOnce(times(30, (i) => () => add(i, anEmail())));

  expect([count(answers, 404), count(answers, 429)]).toEqual([lookups, 30 - lookups]);
  expect((await add(0, outsider.email)).status).toBe(429);
  report({ requests: 2 * lookups + 31, wrong: 0 });
});

it('uncounts a login that got no hash, over all instances', async () => {
  // Far more than are hashed until enough were refused.
  const limit = 20 * LIMIT;
  const [busy, idle] = await aPair({ ...SLOW_HASH, RATE_LIMIT_LOGIN: `${limit}/15m` });
  const fallbacks = (): number =>
    [busy, idle].flatMap(({ logs }) => logs.filter((line) => line.includes('counts by itself'))).length;

  async function left(at: Instance, email: string): Promise<[status: number, remaining: number]> {
    const { status, headers } = await at.anyone.post('/api/auth/login', { email, password: PASSWORD });
    return [status, Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1])];
  }

  /** Undefined where this machine was too busy: for Redis, which then does not count, or for a flood. */
  async function refusedOnes(): Promise<number | undefined> {
    const email = anEmail();
    const before = fallbacks();
    const wrong: string[] = [];
    let [refused, hashed] = [0, 0];
    await besideLoginFlood(busy, {}, async () => {
      while (refused < 2 * LIMIT && hashed < limit - 1) {
        const [status, remaining] = await left(busy, email);
        if (status === 503) refused += 1;
        else hashed += 1;
        if (remaining !== limit - hashed) wrong.push(`${remaining} after ${status}, not ${limit - hashed}`);
      }
    });
    const atLast = await left(idle, email);
    if (fallbacks() > before || refused < 2 * LIMIT) return undefined;
    expect(wrong).toEqual([]);
    expect(atLast).toEqual([401, limit - hashed - 1]);
    return refused;
  }

  let refused: number | undefined;
  for (let attempt = 1; attempt <= 10 && refused === undefined; attempt += 1) refused = await refusedOnes();
  expect(refused).toBe(2 * LIMIT);
  report({ faults: 2 * LIMIT, wrong: 0 });
});

const configure = (memory: string) => redis.command('CONFIG', 'SET', 'maxmemory', memory);

it.each<{ name: string; begin: () => Promise<unknown>; end: () => Promise<unknown> }>([
  { name: 'killed', begin: () => redis.kill(), end: () => redis.restart() },
  { name: 'frozen', begin: () => redis.freeze(), end: async () => redis.thaw() },
  { name: 'slow (0.5 s each way)', begin: () => network.delay(500), end: network.pass },
  { name: 'behind a network that drops packets', begin: network.drop, end: network.pass },
  { name: 'refusing connections', begin: network.refuse, end: network.pass },
  {
    name: 'a read-only replica',
    begin: async () => redis.command('REPLICAOF', '127.0.0.1', String(await freePort())),
    end: () => redis.command('REPLICAOF', 'NO', 'ONE'),
  },
  { name: 'out of memory', begin: () => configure('1'), end: () => configure('0') },
])('limits by itself while Redis is $name, and shares again afterwards', async ({ begin, end }) => {
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
  expect(longest(during)).toBeLessThan(MAX_ANSWER_MS);
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
  expect(longest(all)).toBeLessThan(MAX_ANSWER_MS);
  report({ faults: rounds, requests: all.length, wrong: 0, longestAnswerMs: longest(all) });
});

it('keeps sharing after keys and scripts were flushed', async () => {
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
  const late = await closeAfterTest(startInstance(installation, env));
  const attempts = await logins(3 * LIMIT, [late]);
  expectAdmitted(attempts, LIMIT);
  expect(await rateLimitsAt([late])).toEqual(['degraded']);
  expect(late.logs.filter((line) => line.includes('Redis does not answer'))).toHaveLength(1);

  await redis.restart();
  const recoveriesMs = [await untilShared([late])];
  await sleep(1500);
  expect(count(await logins(40, [...instances, late]), 401)).toBe(LIMIT);
  report({ faults: 1, requests: 70, wrong: 0, longestAnswerMs: longest(attempts), recoveriesMs });
});
