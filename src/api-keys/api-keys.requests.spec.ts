import { expect, it } from 'vitest';
import { expiryOf } from './api-keys.requests.js';

const NOW = Date.UTC(2026, 10, 29);
const DAY_SECONDS = 86_400;
const inDays = (days: number, moreMs = 0): number => NOW + days * DAY_SECONDS * 1000 + moreMs;
const expiry = (expiresAt: number | undefined, maxDays = 365): number | string => {
  try {
    return expiryOf(expiresAt === undefined ? {} : { expiresAt }, NOW, maxDays * DAY_SECONDS);
  } catch {
    return 'refused';
  }
};

it.each<[what: string, expiresAt: number | undefined, expected: number | string]>([
  ['nothing', undefined, inDays(90)],
  ['the next millisecond', NOW + 1, NOW + 1],
  ['now', NOW, 'refused'],
  ['the past', NOW - 1, 'refused'],
  ['the latest time', inDays(365), inDays(365)],
  ['a millisecond beyond it', inDays(365, 1), 'refused'],
])('decides on %s as the time at which an API key expires', (_, expiresAt, expected) => {
  expect(expiry(expiresAt)).toBe(expected);
});

it('has no default beyond the maximum age', () => {
  expect(expiry(undefined, 30)).toBe(inDays(30));
});
