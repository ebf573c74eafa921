import { expect, it } from 'vitest';
import { padded, placeholders } from './statements.js';

it.each([
  [1, 1],
  [2, 2],
  [3, 4],
  [5, 8],
  [64, 64],
])('pads %i keys to %i', (count, size) => {
  const keys = padded(Array<string>(count).fill('k'), 'nobody');
  expect(keys).toHaveLength(size);
  expect(keys.slice(count)).toEqual(Array(size - count).fill('nobody'));
});

it('writes a placeholder for each value', () => {
  expect(placeholders(3)).toBe('?, ?, ?');
});
