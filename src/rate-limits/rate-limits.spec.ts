import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { FallbackStore } from './redis-window-store.js';
import {
  type Admission,
  clientKey,
  type Counter,
  type Quota,
  rateLimitKey,
  type RateLimitStore,
} from './rate-limit-store.js';
import { keyCapacity, SlidingWindowStore } from './sliding-window-store.js';
import type { RateLimit } from '../config/readers.js';

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

interface Answer extends Quota {
  admitted: boolean;
}

function aCounter(email: string, rule: RateLimit, name = `${rule.limit}/${rule.windowMs}`): Counter {
  return { name, key: rateLimitKey(name, '203.0.113.7', email), ...rule };
}

function aStore(limit = 10, capacity?: number) {
  const clock = { ms: 0 };
  const store = new SlidingWindowStore(() => clock.ms, capacity);
  const admitAt = async (
    ms: number,
    email = 'a@b.co',
    rule: RateLimit = { limit, windowMs: W },
  ): Promise<Answer> => {
    clock.ms = ms;
    const { admitted, quotas } = await store.admit([aCounter(email, rule)]);
    return { admitted, ...quotas[0]! };
  };
  return { store, clock, admitAt };
}

describe('the window', () => {
  it('equals a naive sliding log over many random steps, some of them given back', async () => {
    const { store, clock } = aStore(10, 2000);
    const random = seeded(20_261_120);
    const rules = [
      { limit: 10, windowMs: 1000 },
      { limit: 3, windowMs: 5000 },
      { limit: 1, windowMs: 7 },
    ] as const;
    const logs = new Map<string, number[]>();
    const differ = (quota: Quota, log: number[], { limit, windowMs }: RateLimit): boolean =>
      quota.remaining !== limit - log.length ||
      quota.resetMs !== (log.length === 0 ? windowMs : windowMs - (clock.ms - log[0]!));
    let differences = 0;
    for (let step = 0; step < 30_000; step++) {
      clock.ms += random() < 0.02 ? random() * 6000 : random() < 0.5 ? 0 : Math.floor(random() * 40);
      const n = Math.floor(random() * 30);
      const rule = rules[n % 3]!;
      const log = (logs.get(`${n}`) ?? []).filter((time) => clock.ms - time < rule.windowMs);
      const admitted = log.length < rule.limit;
      if (admitted) log.push(clock.ms);
      logs.set(`${n}`, log);

      const admission = await store.admit([aCounter(`${n}`, rule)]);
      differences += Number(admission.admitted !== admitted || differ(admission.quotas[0]!, log, rule));
      if (!admitted || random() < 0.7) continue;
      log.pop();
      await admission.giveBack();
    }
    expect(differences).toBe(0);
  });
});

describe('memory', () => {
  it('equals a naive log of bounded size while keys come and go', async () => {
    const { admitAt } = aStore(2, 50);
    let differences = 0;
    const random = seeded(7);
    const logs = new Map<string, number[]>();
    let ms = 0;
    for (let step = 0; step < 30_000; step++) {
      ms += Math.floor(random() * (random() < 0.001 ? W : W / 100));
      const email = `${Math.floor(random() * 80)}`;
      const log = (logs.get(email) ?? []).filter((time) => ms - time < W);
      const admitted = log.length < 2;
      if (admitted) {
        const [oldest] = logs.keys();
        if (!logs.has(email) && logs.size === 50) logs.delete(oldest!);
        logs.delete(email);
        logs.set(email, [...log, ms]);
      }
      const answer = await admitAt(ms, email);
      const remaining = admitted ? 1 - log.length : 0;
      differences += Number(answer.admitted !== admitted || answer.remaining !== remaining);
    }
    expect(differences).toBe(0);
  });

  it('holds fewer keys as limits grow', () => {
    expect(keyCapacity(10)).toBeGreaterThan(800_000);
    expect(keyCapacity(9999)).toBeGreaterThan(1000);
    expect(keyCapacity(9999) * 9999 * 8).toBeLessThan(96 * 2 ** 20);
  });
});

describe('a request given back', () => {
  it('leaves no entry when it was the only one', async () => {
    const { store, admitAt } = aStore(1, 1);
    const { giveBack } = await store.admit([aCounter('a@b.co', { limit: 1, windowMs: W })]);
    await giveBack();
    expect((await admitAt(1, 'b@b.co')).admitted).toBe(true);
    expect((await admitAt(2, 'b@b.co')).admitted).toBe(false);
  });

  it('does not uncount others, when it has expired or was refused', async () => {
    const { store, clock, admitAt } = aStore(1);
    const counter = aCounter('a@b.co', { limit: 1, windowMs: W });
    const old = await store.admit([counter]);
    const refused = await store.admit([counter]);
    clock.ms = W;
    await refused.giveBack();
    expect((await admitAt(W)).admitted).toBe(true);
    await old.giveBack();
    expect((await admitAt(W + 1)).admitted).toBe(false);
  });
});

/** Mulberry32: the same steps in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

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
    lift: () => Promise.resolve(),
  };
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [peer] = (await accepted) as [Socket];
  const shared = {
    ...own,
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
