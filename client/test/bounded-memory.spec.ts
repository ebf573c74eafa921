import { describe, expect, it } from 'vitest';
import { Changes } from '../src/service/changes.ts';
import { RecentlyUsed } from '../src/service/recently-used.ts';

describe('what is kept', () => {
  it('forgets what was not used for the longest time', () => {
    const kept = new RecentlyUsed<number>(2);
    kept.set('a', 1);
    kept.set('b', 2);
    kept.get('a');
    kept.set('c', 3);

    expect(['a', 'b', 'c'].map((key) => kept.get(key))).toEqual([1, undefined, 3]);
  });

  it('is bounded by weight, and takes one that alone is too heavy', () => {
    const kept = new RecentlyUsed<number>(10, (weight) => weight);
    for (let key = 0; key < 1000; key += 1) kept.set(String(key), 3);
    expect(kept.size).toBe(3);
    kept.set('heavy', 11);
    expect([kept.size, kept.get('heavy')]).toEqual([1, 11]);
    kept.set('light', 1);
    expect([kept.size, kept.get('light')]).toEqual([1, 1]);
  });

  it('weighs a value anew that is set again', () => {
    const kept = new RecentlyUsed<number>(10, (weight) => weight);
    for (let time = 0; time < 100; time += 1) kept.set('same', 6);
    kept.set('other', 4);

    expect(kept.size).toBe(2);
  });
});

describe('changes', () => {
  it('void what was read before them, of their subject alone', () => {
    const changes = new Changes(10);
    const before = changes.position;
    changes.note('ada');

    expect([changes.isVoid(before, 'ada'), changes.isVoid(before, 'grace')]).toEqual([true, false]);
    expect(changes.isVoid(changes.position, 'ada')).toBe(false);
  });

  it('keep what an earlier one has told of sessions', () => {
    const changes = new Changes(10);
    changes.note('ada', { epoch: 2, except: 'kept' });
    changes.note('ada');

    expect(changes.find('ada')).toMatchObject({ epoch: 2, except: 'kept' });
  });

  it('keep the highest epoch, whatever comes after it', () => {
    const changes = new Changes(10);
    changes.note('ada', { epoch: 3, except: 'kept' });
    changes.note('ada', { epoch: 2, except: 'ended' });
    expect(changes.find('ada')).toMatchObject({ epoch: 3, except: 'kept' });

    changes.note('ada', { epoch: 4 });
    expect(changes.find('ada')).toMatchObject({ epoch: 4 });
    expect(changes.find('ada')?.except).toBeUndefined();
  });

  it('void everything that is older than what they had to forget', () => {
    const changes = new Changes(2);
    const before = changes.position;
    changes.note('ada');
    const between = changes.position;
    changes.note('grace');
    expect(changes.isVoid(before, 'joan')).toBe(false);
    changes.note('mary');

    expect(changes.find('ada')).toBeUndefined();
    expect([changes.isVoid(before, 'joan'), changes.isVoid(before, 'ada')]).toEqual([true, true]);
    expect(changes.isVoid(between, 'joan')).toBe(false);
  });

  it('void everything after a gap', () => {
    const changes = new Changes(10);
    const before = changes.position;
    changes.noteAll();

    expect(changes.isVoid(before, 'anybody')).toBe(true);
    expect(changes.isVoid(changes.position, 'anybody')).toBe(false);
  });
});
