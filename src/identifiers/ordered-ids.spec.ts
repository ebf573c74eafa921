import { randomUUIDv7 } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { firstEntityIdAt, OrderedIds, timeOfEntityId } from './entity-id.js';

const NOW = 1_800_000_000_000;
const at = (time: number): string => firstEntityIdAt(time).slice(0, 14) + randomUUIDv7().slice(14);

describe('OrderedIds', () => {
  it('counts within a millisecond, from anywhere in the lower half', () => {
    const beginnings = Array.from({ length: 50 }, () => {
      const ids = new OrderedIds();
      const made = Array.from({ length: 100 }, () => ids.next(at(NOW)));
      expect(made).toEqual(made.toSorted());
      expect(new Set(made.map(timeOfEntityId))).toEqual(new Set([NOW]));
      return made[0]!.slice(15, 16);
    });
    expect(new Set(beginnings).size).toBeGreaterThan(4);
    expect(beginnings.filter((digit) => digit >= '8')).toEqual([]);
  });

  it('goes on where the clock steps back by a second at most', () => {
    const ids = new OrderedIds();
    const times = [NOW, NOW - 1, NOW - 1000, NOW, NOW + 1, NOW - 500];
    const made = times.map((time) => ids.next(at(time)));
    expect(made).toEqual(made.toSorted());
    expect(made.map(timeOfEntityId)).toEqual([NOW, NOW, NOW, NOW, NOW + 1, NOW + 1]);
  });

  it('follows a clock that is put right', () => {
    const ids = new OrderedIds();
    const times = [NOW + 3_600_000, NOW, NOW, NOW + 1];
    const made = times.map((time) => ids.next(at(time)));
    expect(made.map(timeOfEntityId)).toEqual(times);
    expect(made.slice(1)).toEqual(made.slice(1).toSorted());
  });
});
