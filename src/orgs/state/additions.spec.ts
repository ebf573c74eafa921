import { expect, it } from 'vitest';
import { additionsUpTo } from './additions.js';

it.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 3],
  [5, 4],
  [9, 7],
  [10, 8],
  [5000, 4000],
  [100_000, 80_000],
])('of a limit of %i, others can add up to %i', (limit, expected) => {
  expect(additionsUpTo(limit)).toBe(expected);
});

it('leaves the user at least one of any limit above one', () => {
  for (let limit = 2; limit <= 1000; limit += 1) expect(additionsUpTo(limit)).toBeLessThan(limit);
});
