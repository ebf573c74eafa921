import { array, assert, constantFrom, integer, option, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findOut, instancesThatCountAlone, settledOffset } from './instance-faults.js';
import type { LiveInstance } from './instances.repository.js';

const NOW = 1_800_000_000_000;
const RIGHT: LiveInstance = {
  id: '',
  host: 'app',
  pid: 1,
  keySet: 'k1',
  signingKey: 'k1',
  clockOffset: 0,
  clockReading: 0,
  countsAlone: 0,
  startedAt: 1,
  differsSince: null,
  now: NOW,
};

const clock = (clockOffset: number | null, clockReading = clockOffset): Partial<LiveInstance> => ({
  clockOffset,
  clockReading,
});
const keys = (keySet: string, signingKey = keySet): Partial<LiveInstance> => ({ keySet, signingKey });
const instances = (changes: Partial<LiveInstance>[]): LiveInstance[] =>
  changes.map((change, index) => ({ ...RIGHT, pid: index, ...change, id: 'abcdef'[index]! }));

const FAST = clock(15_001);
const SLOW = clock(-15_001);
const UNKNOWN = clock(null);
const OTHER = keys('k2');
const WORKER = { ...OTHER, pid: 9 };
/** after `keys rotate`, before and after the new key signs */
const ROTATED = keys('k1 k2', 'k1');
const SIGNS_NEW = keys('k1 k2', 'k2');
const PRUNED = keys('k2');

describe('the instances that clients should not reach', () => {
  it.each<[what: string, out: string, live: Partial<LiveInstance>[]]>([
    ['none of equal ones', '', [{}, {}, {}]],
    ['none of one alone', '', [{ ...FAST, ...OTHER }]],

    ['a clock that is fast', 'b: clock', [{}, FAST, {}]],
    ['a clock that is slow', 'a: clock', [SLOW, {}, {}]],
    ['two wrong clocks beside a right one', 'a: clock, b: clock', [FAST, SLOW, {}]],
    ['a wrong clock beside one other', 'a: clock', [FAST, {}]],
    ['a clock within half of the leeway', '', [clock(15_000), clock(-15_000), {}]],
    ['a right clock at the edge', 'a: clock', [FAST, clock(-15_000)]],
    ['no clock, if the database differs from all', '', [FAST, FAST, clock(20_000)]],
    ['no clock that is not known', '', [UNKNOWN, {}, {}]],
    ['no clock beside ones that are not known', '', [FAST, UNKNOWN, UNKNOWN]],
    ['no clock, while others have read the jump of the database once', '', [FAST, clock(0, 15_001)]],
    ['no clock, while others have read their return once', '', [FAST, clock(15_001, 0)]],

    ['the keys of one among three', 'c: keys', [{}, {}, OTHER]],
    ['the keys of two among five', 'b: keys, d: keys', [{}, OTHER, {}, OTHER, {}]],
    ['two different keys among five', 'a: keys, d: keys', [OTHER, {}, {}, keys('k3'), {}]],
    ['no keys of two instances', '', [{}, OTHER]],
    ['no keys of an instance beside three workers of one', '', [{}, WORKER, WORKER, WORKER]],
    ['the keys of two workers beside two instances', 'a: keys, b: keys', [WORKER, WORKER, {}, {}]],
    ['no keys of two against two', '', [{}, OTHER, {}, OTHER]],
    ['no keys of three that all differ', '', [{}, OTHER, keys('k3')]],
    ['no new key that does not sign yet', '', [ROTATED, {}, {}]],
    ['no instance that has yet to get the new key', '', [ROTATED, ROTATED, {}]],
    ['a new key that signs before others have it', 'a: keys', [SIGNS_NEW, {}, {}]],
    ['the instance that lacks the key that signs', 'c: keys', [SIGNS_NEW, SIGNS_NEW, {}]],
    ['no instance whose clock lets the old key sign', '', [SIGNS_NEW, SIGNS_NEW, ROTATED]],
    ['no keys that were pruned here first', '', [PRUNED, SIGNS_NEW, SIGNS_NEW]],
    ['no keys that are yet to be pruned', '', [PRUNED, PRUNED, SIGNS_NEW]],

    ['one for its clock, another for its keys', 'a: clock, b: keys', [FAST, OTHER, {}, {}]],
    ['one for its clock, if its keys differ, too', 'a: clock', [{ ...FAST, ...OTHER }, {}, {}]],
    ['nobody instead of all: two clocks and a key file', '', [FAST, SLOW, OTHER]],
  ])('%s', (_what, expected, changes) => {
    const out = Array.from(findOut(instances(changes)), ([id, reason]) => `${id}: ${reason}`);
    expect(out.join(', ')).toBe(expected);
  });

  it('are never all of them, and the same ones in every order of the rows', () => {
    const ms = option(integer({ min: -40_000, max: 40_000 }));
    const names = ['k1', 'k2', 'k3', 'k1 k2', 'k2 k3', 'k1 k2 k3'];
    const row = record({
      keySet: constantFrom(...names),
      signingKey: constantFrom('k1', 'k2', 'k3'),
      clockOffset: ms,
      clockReading: ms,
    });
    assert(
      property(array(row, { minLength: 1, maxLength: 6 }), (changes) => {
        const live = instances(changes);
        const out = findOut(live);
        expect(out.size).toBeLessThan(live.length);
        expect(findOut(live.toReversed())).toEqual(out);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the offset of a clock', () => {
  it.each([
    ['is the reading that the next one confirms', [20, 20], 20],
    ['does not follow a single reading', [20], 0],
    ['does not follow readings that differ', [20, 0, 20, 0, 20], 0],
    ['follows as far as two readings agree', [20, 5], 5],
    ['does not go back for a single reading', [20, 20, 0, 20, 20, 0], 20],
    ['goes back with the second', [20, 20, 0, 0], 0],
    ['stays between two readings on both sides', [20, -20, 20, -20], 0],
  ])('%s', (_what, readings, expected) => {
    let [offset, previous] = [0, 0];
    for (const reading of readings) {
      offset = settledOffset(offset, previous, reading);
      previous = reading;
    }
    expect(offset).toBe(expected);
  });
});

describe('instances that count rate limits alone', () => {
  const ALONE = { countsAlone: 1 } as const;
  const young = (ageMs: number): Partial<LiveInstance> => ({ ...ALONE, startedAt: NOW - ageMs });

  it.each<[what: string, alone: string, live: Partial<LiveInstance>[]]>([
    ['are two', 'ab', [ALONE, ALONE]],
    ['are one beside one with Redis', 'b', [{}, ALONE]],
    ['are none with Redis', '', [{}, {}]],
    ['are not the only one', '', [ALONE]],
    ['are not an old row and its restart', '', [ALONE, young(120_000)]],
    ['are two after two minutes', 'ab', [ALONE, young(120_001)]],
  ])('%s', (_what, expected, changes) => {
    const alone = instancesThatCountAlone(instances(changes));
    expect(alone.map(({ id }) => id).join('')).toBe(expected);
  });
});
