import { describe, expect, it } from 'vitest';
import { REFRESH_TABLE } from '../support/refresh-table.js';
import { decideRefresh, isFirstUse, isReplaced } from '../../src/auth/sessions/refresh-rules.js';

const GRACE_MS = 30_000;
const FIRST = { refreshGeneration: 1, reissues: 0, seenGeneration: 0, rotatedForMs: null };

describe('a refresh', () => {
  it.each(REFRESH_TABLE)('with $name ($shown)', ({ state, shown, graceMs, decision }) => {
    expect(decideRefresh(state, shown, graceMs)).toEqual(decision);
  });

  it('with the first token rotates', () => {
    expect(decideRefresh(FIRST, 1, GRACE_MS)).toEqual({ kind: 'rotate', refreshGeneration: 2, reissues: 0 });
  });

  it.each([
    [29_999, 'repeat'],
    [30_000, 'reused'],
    [-29_999, 'repeat'],
    [-30_000, 'reused'],
  ])('with the previous token %i ms after the first use of its successor is %s', (rotatedForMs, kind) => {
    const state = { refreshGeneration: 5, reissues: 0, seenGeneration: 5, rotatedForMs };
    expect(decideRefresh(state, 4, GRACE_MS)).toEqual({ kind });
  });
});

describe('the use of an access token', () => {
  const reissued = { refreshGeneration: 5, reissues: 2, seenGeneration: 2 };

  it.each([1, 2, 3, 4, 5, 6])(
    'of generation %i is the first one only for the last generation',
    (generation) => {
      expect(isFirstUse(reissued, generation)).toBe(generation === 5);
      expect(isFirstUse({ ...reissued, seenGeneration: 5 }, generation)).toBe(false);
    },
  );

  it('of the first generation is never noted', () => {
    expect(isFirstUse(FIRST, 1)).toBe(false);
  });

  it.each([1, 2, 3, 4, 5, 6])('of generation %i is refused if the generation was replaced', (generation) => {
    expect(isReplaced(reissued, generation)).toBe(generation === 3 || generation === 4);
    expect(isReplaced({ ...reissued, reissues: 0 }, generation)).toBe(false);
  });
});
