import { describe, expect, it } from 'vitest';
import { rateLimitKey } from './rate-limit-key.js';
import { SlidingWindowStore, keyCapacity } from './sliding-window.js';

const W = 900_000;
const LOGIN = { limit: 10, windowMs: W };

function aStore(limit = 10, capacity?: number) {
  const clock = { ms: 0 };
  const store = new SlidingWindowStore(limit, () => clock.ms, capacity);
  const admitAt = (ms: number, email = 'a@b.co', rule = { limit, windowMs: W }) => {
    clock.ms = ms;
    return store.admit(rateLimitKey('login', '203.0.113.7', email), rule);
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
    const { store } = aStore();
    const key = rateLimitKey('login', '203.0.113.7', 'a@b.co');
    const answers = await Promise.all(Array.from({ length: 100 }, () => store.admit(key, LOGIN)));
    expect(answers.filter((answer) => answer.admitted)).toHaveLength(10);
  });

  it('equals a naive sliding log over many random steps', async () => {
    const { admitAt } = aStore(10, 2000);
    const random = seeded(20_261_120);
    const rules = [
      { limit: 10, windowMs: 1000 },
      { limit: 3, windowMs: 5000 },
      { limit: 1, windowMs: 7 },
    ] as const;
    const logs = new Map<string, number[]>();
    let ms = 0;
    for (let step = 0; step < 30_000; step++) {
      ms += random() < 0.02 ? random() * 6000 : random() < 0.5 ? 0 : Math.floor(random() * 40);
      const n = Math.floor(random() * 30);
      const rule = rules[n % 3]!;
      const log = (logs.get(`${n}`) ?? []).filter((time) => ms - time < rule.windowMs);
      const admitted = log.length < rule.limit;
      if (admitted) log.push(ms);
      logs.set(`${n}`, log);

      expect(await admitAt(ms, `${n}`, rule)).toEqual({
        admitted,
        remaining: rule.limit - log.length,
        resetMs: rule.windowMs - (ms - log[0]!),
      });
    }
  });
});

describe('memory', () => {
  it('gives up the key admitted longest ago first', async () => {
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

  it('uses the room of expired keys before that of live ones', async () => {
    const { admitAt } = aStore(1, 100);
    for (let i = 0; i < 60; i++) await admitAt(0, `early ${i}`);
    for (let i = 0; i < 40; i++) await admitAt(W - 1, `late ${i}`);
    for (let i = 0; i < 60; i++) await admitAt(W, `new ${i}`);
    for (let i = 0; i < 40; i++) expect((await admitAt(W, `late ${i}`)).admitted).toBe(false);
    for (let i = 0; i < 60; i++) expect((await admitAt(W, `new ${i}`)).admitted).toBe(false);
  });

  it('equals a naive log of bounded size while keys come and go', async () => {
    const { admitAt } = aStore(2, 50);
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
      expect(await admitAt(ms, email)).toMatchObject({ admitted, remaining: admitted ? 1 - log.length : 0 });
    }
  });

  it('has a bound in keys that falls as limits grow', () => {
    expect(keyCapacity(10)).toBe(1_000_000);
    expect(keyCapacity(100)).toBeGreaterThan(150_000);
    expect(keyCapacity(9999)).toBeGreaterThan(2000);
    expect(keyCapacity(9999) * 9999 * 8).toBeLessThan(160 * 2 ** 20);
  });
});

it('refuses what would break it: a foreign key, a limit beyond its rings', async () => {
  const { store } = aStore();
  await expect(store.admit('a@b.co', LOGIN)).rejects.toThrow(RangeError);
  await expect(store.admit('!'.repeat(22), LOGIN)).rejects.toThrow(RangeError);
  const key = rateLimitKey('login', '203.0.113.7', 'a@b.co');
  await expect(store.admit(key, { ...LOGIN, limit: 11 })).rejects.toThrow(RangeError);
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
