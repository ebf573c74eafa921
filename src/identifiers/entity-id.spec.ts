import { describe, expect, it } from 'vitest';
import { firstEntityIdAt, isEntityId, newEntityId, timeOfEntityId } from './entity-id.js';

describe('newEntityId', () => {
  const made = Array.from({ length: 100_000 }, newEntityId);

  it('makes a greater id each time, also within a millisecond', () => {
    const milliseconds = new Set(made.map(timeOfEntityId));
    expect(milliseconds.size).toBeLessThan(made.length / 2);
    expect(made.filter((id, place) => place > 0 && id <= made[place - 1]!)).toEqual([]);
  });

  it('makes UUIDs of version 7 that nobody else makes', () => {
    const parts = made.map((id) => /^.{8}-.{4}-7.{3}-8.{3}-(.{12})$/.exec(id)?.[1]);
    expect(parts).not.toContain(undefined);
    expect(new Set(parts).size).toBeGreaterThan(made.length - 10);
  });

  it('makes none that is less than the first of its time', () => {
    expect(made.filter((id) => id < firstEntityIdAt(timeOfEntityId(id)))).toEqual([]);
  });
});

describe('isEntityId', () => {
  it('accepts the ids of newEntityId', () => {
    expect(isEntityId(newEntityId())).toBe(true);
  });

  it.each(['1', '2', '3', '4', '5', '6', '7', '8'])('accepts a UUID of version %s', (version) => {
    for (const variant of '89ab') {
      expect(isEntityId(`01a1fbf4-7ea2-${version}24e-${variant}0f0-0123456789ab`)).toBe(true);
    }
  });

  it.each([
    ['the nil UUID', '00000000-0000-0000-0000-000000000000'],
    ['the max UUID', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    ['version 0', '01a1fbf4-7ea2-024e-b0f0-0123456789ab'],
    ['version 9', '01a1fbf4-7ea2-924e-b0f0-0123456789ab'],
    ['another variant', '01a1fbf4-7ea2-424e-c0f0-0123456789ab'],
    ['upper case', '01A1FBF4-7EA2-424E-B0F0-0123456789AB'],
    ['braces', '{01a1fbf4-7ea2-424e-b0f0-0123456789ab}'],
    ['a line feed at its end', '01a1fbf4-7ea2-424e-b0f0-0123456789ab\n'],
    ['no hyphens', '01a1fbf47ea2424eb0f00123456789ab'],
    ['a number', 7],
    ['nothing', undefined],
  ])('refuses %s', (_what, id) => {
    expect(isEntityId(id)).toBe(false);
  });
});
