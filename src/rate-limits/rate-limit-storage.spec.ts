import { expect, it } from 'vitest';
import { RateLimitStorage } from './rate-limit-storage.js';
import type { Admission } from './rate-limit-store.js';

const record = (admission: Admission) =>
  new RateLimitStorage({ admit: () => Promise.resolve(admission) }).increment('key', 900_000, 10);

it.each([
  [0.25, 1],
  [1000, 1],
  [1000.25, 2],
  [899_001, 900],
])('turns a wait of %d ms into %d whole seconds, which suffice', async (resetMs, seconds) => {
  expect(await record({ admitted: false, remaining: 0, resetMs })).toEqual({
    totalHits: 11,
    timeToExpire: seconds,
    isBlocked: true,
    timeToBlockExpire: seconds,
  });
});

it('counts the admitted request among the hits', async () => {
  expect(await record({ admitted: true, remaining: 9, resetMs: 900_000 })).toEqual({
    totalHits: 1,
    timeToExpire: 900,
    isBlocked: false,
    timeToBlockExpire: 0,
  });
});
