import { describe, expect, it } from 'vitest';
import { type Counter, type Quota, rateLimitKey } from './rate-limit-store.js';
import type { RateLimit } from '../config/readers.js';
import { keyCapacity, SlidingWindowStore } from './sliding-window-store.js';

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
  it('holds no more than the limit wherever it starts', async () => {
    const { admitAt } = aStore();
    expect(await admitAt(0)).toEqual({ admitted: true, remaining: 9, resetMs: W });
    for (let i = 0; i < 9; i++) await admitAt(W - 1000);
    const later = [];
    for (let i = 0; i < 10; i++) later.push((await admitAt(W + 1000)).admitted);
    expect(later.filter(Boolean)).toHaveLength(1);
    const afterNine = [];
    for (let i = 0; i < 10; i++) afterNine.push((await admitAt(2 * W - 1000)).admitted);
    expect(afterNine.filter(Boolean)).toHaveLength(9);
  });

  it('ends exactly windowMs after the oldest request', async () => {
    const { admitAt } = aStore();
    for (let i = 0; i < 10; i++) expect((await admitAt(5)).admitted).toBe(true);
    expect(await admitAt(5 + W - 1)).toEqual({ admitted: false, remaining: 0, resetMs: 1 });
    expect(await admitAt(5 + W)).toEqual({ admitted: true, remaining: 9, resetMs: W });
  });

  it('is not prolonged by refused requests', async () => {
    const { admitAt } = aStore();
    for (let i = 0; i < 10; i++) await admitAt(i);
    for (let t = 1000; t < W; t += 1000) expect((await admitAt(t)).resetMs).toBe(W - t);
    expect((await admitAt(W)).admitted).toBe(true);
    expect(await admitAt(W)).toEqual({ admitted: false, remaining: 0, resetMs: 1 });
  });

  it('admits exactly the limit of requests that arrive together', async () => {
    const { admitAt } = aStore();
    const answers = await Promise.all(Array.from({ length: 100 }, () => admitAt(0)));
    expect(answers.filter((answer) => answer.admitted)).toHaveLength(10);
  });

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
  it('evicts the key admitted longest ago first', async () => {
    const { admitAt } = aStore(1, 3);
    await admitAt(0, 'first');
    await admitAt(1, 'second');
    await admitAt(2, 'third');
    expect((await admitAt(3, 'first')).admitted).toBe(false);
    await admitAt(4, 'fourth');
    expect((await admitAt(5, 'second')).admitted).toBe(false);
    expect((await admitAt(5, 'third')).admitted).toBe(false);
    expect((await admitAt(5, 'first')).admitted).toBe(true);
    expect((await admitAt(6, 'second')).admitted).toBe(true);
    expect((await admitAt(7, 'fourth')).admitted).toBe(false);
  });

  it('keeps a key that was admitted again', async () => {
    const { admitAt } = aStore(2, 2);
    await admitAt(0, 'old');
    await admitAt(1, 'idle');
    await admitAt(2, 'old');
    await admitAt(3, 'new');
    expect((await admitAt(4, 'old')).admitted).toBe(false);
    expect((await admitAt(5, 'idle')).remaining).toBe(1);
  });

  it('reuses expired keys before it evicts live ones', async () => {
    const { admitAt } = aStore(1, 100);
    for (let i = 0; i < 60; i++) await admitAt(0, `early ${i}`);
    for (let i = 0; i < 40; i++) await admitAt(W - 1, `late ${i}`);
    for (let i = 0; i < 60; i++) await admitAt(W, `new ${i}`);
    for (let i = 0; i < 40; i++) expect((await admitAt(W, `late ${i}`)).admitted).toBe(false);
    for (let i = 0; i < 60; i++) expect((await admitAt(W, `new ${i}`)).admitted).toBe(false);
  });

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
    expect(keyCapacity(5)).toBeGreaterThan(1_300_000);
    expect(keyCapacity(10)).toBeGreaterThan(800_000);
    expect(keyCapacity(100)).toBeGreaterThan(100_000);
    expect(keyCapacity(9999)).toBeGreaterThan(1000);
    expect(keyCapacity(9999) * 9999 * 8).toBeLessThan(96 * 2 ** 20);
  });
});

describe('several limits', () => {
  const narrow = aCounter('a@b.co', { limit: 2, windowMs: 1000 }, 'narrow');
  const wide = (email: string): Counter => aCounter(email, { limit: 3, windowMs: 5000 }, 'wide');

  it('admit what each of them admits, and report what each has left', async () => {
    const { store, clock } = aStore();
    await store.admit([wide('a@b.co')]);
    clock.ms = 400;
    expect(await store.admit([narrow, wide('a@b.co')])).toMatchObject({
      admitted: true,
      quotas: [
        { remaining: 1, resetMs: 1000 },
        { remaining: 1, resetMs: 4600 },
      ],
    });
  });

  it('do not count a request that one of them refuses', async () => {
    const { store } = aStore();
    for (let i = 0; i < 2; i += 1) await store.admit([narrow, wide('a@b.co')]);
    for (let i = 0; i < 5; i += 1) {
      const { admitted, quotas } = await store.admit([narrow, wide('a@b.co')]);
      expect([admitted, ...quotas.map(({ remaining }) => remaining)]).toEqual([false, 0, 1]);
    }
    expect((await store.admit([wide('a@b.co')])).admitted).toBe(true);
  });

  it('report a whole window for a key that was never counted', async () => {
    const { store } = aStore();
    for (let i = 0; i < 2; i += 1) await store.admit([narrow]);
    const { quotas } = await store.admit([narrow, wide('b@b.co')]);
    expect(quotas[1]).toEqual({ remaining: 3, resetMs: 5000 });
  });
});

describe('a request given back', () => {
  it('is no longer counted', async () => {
    const { store, clock, admitAt } = aStore(2);
    const rule = { limit: 2, windowMs: W };
    const first = await store.admit([aCounter('a@b.co', rule)]);
    await admitAt(10);
    expect((await admitAt(20)).admitted).toBe(false);
    clock.ms = 30;
    await first.giveBack();
    expect(await admitAt(40)).toEqual({ admitted: true, remaining: 0, resetMs: W - 30 });
  });

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

it('rejects a key that is not 128 bits in base64url', async () => {
  const { store } = aStore();
  for (const key of ['a@b.co', '!'.repeat(22)]) {
    await expect(store.admit([{ name: 'login', key, limit: 1, windowMs: W }])).rejects.toThrow(RangeError);
  }
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
