import { expect, it } from 'vitest';
import { RateLimitStorage } from './rate-limit-storage.js';
import type { Counter, Quota } from './rate-limit-store.js';

function record(admitted: boolean, quota: Quota) {
  const quotas = [quota];
  const asked: (readonly Counter[])[] = [];
  const admit = (counters: readonly Counter[]) => {
    asked.push(counters);
    return Promise.resolve({ admitted, quotas, giveBack: () => Promise.resolve() });
  };
  const answer = new RateLimitStorage({ admit }).increment('key', 900_000, 10, 0, 'login');
  expect(asked).toEqual([[{ name: 'login', key: 'key', limit: 10, windowMs: 900_000 }]]);
  return answer;
}

it.each([
  [0.25, 1],
  [1000, 1],
  [1000.25, 2],
  [899_001, 900],
])('rounds a wait of %d ms up to %d seconds', async (resetMs, seconds) => {
  expect(await record(false, { remaining: 0, resetMs })).toEqual({
    totalHits: 11,
    timeToExpire: seconds,
    isBlocked: true,
    timeToBlockExpire: seconds,
  });
});

it('counts the admitted request among the hits', async () => {
  expect(await record(true, { remaining: 9, resetMs: 900_000 })).toEqual({
    totalHits: 1,
    timeToExpire: 900,
    isBlocked: false,
    timeToBlockExpire: 0,
  });
});
