import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import * as fc from 'fast-check';
import { Logger } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseEnv } from '../config/env.js';
import { freePort } from '../../client/src/free-port.ts';
import { FallbackStore } from './fallback-store.js';
import { RedisWindowStore } from './redis-window-store.js';
import {
  type Admission,
  clientKey,
  type Counter,
  rateLimitKey,
  type RateLimitStore,
} from './rate-limit-store.js';
import { countersOf, type RateLimitName } from './rate-limit-rules.js';
import { keyCapacity, SlidingWindowStore } from './sliding-window-store.js';

describe('the key of a limit', () => {
  it('is 22 characters of base64url, and differs by name, client and e-mail and by the boundaries between them', async () => {
    const keys = [
      rateLimitKey('login', '203.0.113.7', 'a@b.co'),
      rateLimitKey('register', '203.0.113.7', 'a@b.co'),
      rateLimitKey('login', '203.0.113.8', 'a@b.co'),
      rateLimitKey('login', '203.0.113.7', 'b@b.co'),
      rateLimitKey('login', '203.0.113.7a', '@b.co'),
    ];
    expect(keys[0]).toMatch(/^[\w-]{22}$/);
    expect(new Set(keys).size).toBe(keys.length);

    const { store } = aStore();
    for (const key of ['a@b.co', '!'.repeat(22)])
      await expect(store.admit([{ name: 'login', key, limit: 1, windowMs: W }])).rejects.toThrow(RangeError);
  });

  it('is another for each limit', () => {
    const names: Record<RateLimitName, true> = {
      register: true,
      login: true,
      address: true,
      account: true,
      lookup: true,
      forgot: true,
      code: true,
      provider: true,
      export: true,
      writes: true,
    };
    const off = ['IP', 'FAILED_LOGINS', 'WRITES'];
    const env = parseEnv(Object.fromEntries(off.map((name) => [`RATE_LIMIT_${name}`, '9/1h'])));
    const principal = { kind: 'user', id: 'u', email: 'a@b.co' };
    const request = { ip: '203.0.113.7', body: { email: 'a@b.co' }, principal } as FastifyRequest;
    const counters = countersOf(env, Object.keys(names) as RateLimitName[], request);
    expect(new Set(counters.map(({ key }) => key)).size).toBe(Object.keys(names).length);
  });

  it.each<[string, string, number?]>([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8::/64'],
    ['::1', '::/64'],
    ['64:ff9b::1.2.3.4', '64:ff9b::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['203.0.113.7', '203.0.113.7', 56],
    ['2001:db8:1:2ff:3:4:5:6', '2001:db8:1:200::/56', 56],
    ['', ''],
    ['localhost', 'localhost'],
    ['1.2.3', '1.2.3'],
  ])('counts %j as %j with the prefix %s', (address, key, prefix) => {
    expect(clientKey(address, prefix)).toBe(key);
  });
});

const W = 900_000;
const COUNTER = { name: 'login', windowMs: W };

function aStore(capacity?: number) {
  const clock = { ms: 0 };
  return { clock, store: new SlidingWindowStore(() => clock.ms, capacity) };
}

function aCounter(email: string, limit: number): Counter {
  return { ...COUNTER, limit, key: rateLimitKey('login', '203.0.113.7', email) };
}

it('equals a naive log of bounded size while requests come, expire and are given back', async () => {
  const [capacity, limit] = [5, 3];
  const step = fc.record({
    pauseMs: fc.constantFrom(0, 0, 1, W / 100, W / 3, W),
    email: fc.constantFrom(...'abcdefgh'),
    isGivenBack: fc.boolean(),
  });
  const work = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 300 }), async (steps) => {
    const { store, clock } = aStore(capacity);
    /** in the order of the last admission */
    const logs = new Map<string, number[]>();
    for (const { pauseMs, email, isGivenBack } of steps) {
      clock.ms += pauseMs;
      const log = (logs.get(email) ?? []).filter((time) => clock.ms - time < W);
      const { admitted, quotas, giveBack } = await store.admit([aCounter(email, limit)]);
      expect(admitted).toBe(log.length < limit);
      if (admitted) {
        if (!logs.has(email) && logs.size === capacity) logs.delete(logs.keys().next().value!);
        logs.delete(email);
        log.push(clock.ms);
        logs.set(email, log);
      }
      expect(quotas[0]).toEqual({ remaining: limit - log.length, resetMs: W - (clock.ms - log[0]!) });
      if (!admitted || !isGivenBack) continue;
      await giveBack();
      log.pop();
      if (log.length === 0) logs.delete(email);
    }
  });
  await fc.assert(work);
});

it('holds fewer keys as limits grow', () => {
  expect(keyCapacity(10)).toBeGreaterThan(800_000);
  expect(keyCapacity(9999)).toBeGreaterThan(1000);
  expect(keyCapacity(9999) * 9999 * 8).toBeLessThan(96 * 2 ** 20);
});

it('does not uncount other requests by giving back one that has expired or was refused', async () => {
  const { store, clock } = aStore();
  const isAdmitted = async () => (await store.admit([aCounter('a', 1)])).admitted;
  const old = await store.admit([aCounter('a', 1)]);
  const refused = await store.admit([aCounter('a', 1)]);
  clock.ms = W;
  await refused.giveBack();
  expect(await isAdmitted()).toBe(true);
  await old.giveBack();
  expect(await isAdmitted()).toBe(false);
});

/** The answer lies in the operating system while this thread is busy: another one would have sent it meanwhile. */
it('a shared window that answers is not considered slow because this event loop was', async () => {
  const admission = (admitted: boolean): Admission => ({
    admitted,
    quotas: [],
    giveBack: () => Promise.resolve(),
  });
  const own: RateLimitStore = {
    degraded: false,
    admit: () => Promise.resolve(admission(false)),
    look: () => Promise.resolve([]),
    lift: () => Promise.resolve(),
  };
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [peer] = (await accepted) as [Socket];
  const shared = {
    ...own,
    isConnecting: false,
    close: () => undefined,
    admit: () => once(socket, 'data').then(() => admission(true)),
  };

  const store = new FallbackStore(shared, own);
  const asked = store.admit([{ name: 'login', key: 'k', limit: 1, windowMs: 1000 }]);
  peer.write('answer');
  // Longer than the answer of Redis is waited for.
  for (const end = performance.now() + 350; performance.now() < end;);
  expect((await asked).admitted).toBe(true);
  expect(store.degraded).toBe(false);

  store.onApplicationShutdown();
  socket.destroy();
  peer.destroy();
  server.close();
});

describe('a Redis that this instance cannot use', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  const own = new SlidingWindowStore();
  const ofRedis = expect.objectContaining({
    msg: expect.stringContaining('Redis does not answer') as string,
  });

  it('is reported once, with the reason, although a busy start let it ask before the attempt to connect had failed', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const store = new FallbackStore(new RedisWindowStore(`redis://127.0.0.1:${await freePort()}`), own);
    // Longer than a probe waits.
    for (const end = performance.now() + 1100; performance.now() < end;);

    await vi.waitUntil(() => warn.mock.calls.length > 0, { timeout: 60_000 });
    expect(store.degraded).toBe(true);
    await expect(store.lift('k', { agoMs: 0, windowMs: 1000 })).rejects.toThrow('not connected');
    store.onApplicationShutdown();

    expect(warn.mock.calls).toEqual([[ofRedis]]);
    const { err } = warn.mock.calls[0]![0] as { err: Error };
    expect(err.cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('does not keep a lift from what this instance counts', async () => {
    vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const store = new FallbackStore(new RedisWindowStore(`redis://127.0.0.1:${await freePort()}`), own);
    const liftKey = rateLimitKey('email', 'ada');
    const isAdmitted = async () => (await store.admit([{ ...aCounter('ada', 1), liftKey }])).admitted;
    expect([await isAdmitted(), await isAdmitted()]).toEqual([true, false]);
    await expect(store.lift(liftKey, { agoMs: 0, windowMs: W })).rejects.toThrow(/not connected|no answer/);
    expect(await isAdmitted()).toBe(true);
    store.onApplicationShutdown();
  });

  it('is reported without a reason after five seconds in which an attempt to connect did not end', async () => {
    vi.useFakeTimers();
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const refuse = () => Promise.reject(new Error('not connected'));
    const shared = { isConnecting: true, admit: refuse, look: refuse, lift: refuse, close: () => undefined };
    const store = new FallbackStore(shared, own);

    await vi.advanceTimersByTimeAsync(5000);
    expect(store.degraded).toBe(true);
    expect(warn).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(5000);
    expect(warn.mock.calls).toEqual([[ofRedis]]);

    store.onApplicationShutdown();
  });
});
