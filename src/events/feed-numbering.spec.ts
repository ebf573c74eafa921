import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { inFeedOrder, Revisions } from './feed-numbering.js';
import type { Unnumbered } from './feed.repository.js';

interface Change {
  org: number | undefined;
  user: number | undefined;
  /** how far the clock that made the id is off */
  skew: number;
  size: number;
}

const change = fc.record<Change>({
  org: fc.option(fc.nat(3), { nil: undefined }),
  user: fc.option(fc.nat(3), { nil: undefined }),
  skew: fc.integer({ min: -50, max: 50 }),
  size: fc.integer({ min: 1, max: 3 }),
});

/** Events as they are committed: one change after the other, each with the next revisions, and ids of its own clock. */
function committed(changes: readonly Change[]): Unnumbered[] {
  const revisions = new Map<string, number>();
  const next = (subject: string): number => {
    const revision = (revisions.get(subject) ?? 0) + 1;
    revisions.set(subject, revision);
    return revision;
  };
  return changes.flatMap(({ org, user, skew, size }, time) => {
    const about = {
      orgId: org === undefined ? null : `o${org}`,
      orgRevision: org === undefined ? null : next(`o${org}`),
      userId: user === undefined ? null : `u${user}`,
      userRevision: user === undefined ? null : next(`u${user}`),
    };
    return Array.from({ length: size }, (_, place) => ({
      id: `${String(1000 + time + skew)}.${String(time).padStart(4, '0')}.${place}`,
      ...about,
    }));
  });
}

const shuffled = (changes: readonly Change[]) =>
  fc.shuffledSubarray(committed(changes), { minLength: changes.reduce((sum, { size }) => sum + size, 0) });

function descents(events: readonly Unnumbered[]): string[] {
  const highest = new Map<string, number>();
  const found: string[] = [];
  for (const { id, orgId, orgRevision, userId, userRevision } of events) {
    for (const [subject, revision] of [
      [orgId, orgRevision],
      [userId, userRevision],
    ] as const) {
      if (subject === null || revision === null) continue;
      if (revision < (highest.get(subject) ?? 0)) found.push(id);
      highest.set(subject, revision);
    }
  }
  return found;
}

it('orders organizations and users by their revisions, whatever the clocks said, and keeps every event', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }).chain(shuffled), (events) => {
      const ordered = inFeedOrder(events);
      expect(descents(ordered)).toEqual([]);
      expect(ordered.toSorted(byId)).toEqual(events.toSorted(byId));
    }),
  );
});

it('depends on nothing but the events, so that every process gives the same order', () => {
  const twice = fc
    .array(change, { maxLength: 30 })
    .chain((changes) => fc.tuple(shuffled(changes), shuffled(changes)));
  fc.assert(
    fc.property(twice, ([one, other]) => {
      expect(inFeedOrder(one)).toEqual(inFeedOrder(other));
    }),
  );
});

it('keeps the order of ids where no revision says otherwise', () => {
  const events = ['3', '1', '2'].map((id) => event(id));
  expect(inFeedOrder(events).map(({ id }) => id)).toEqual(['1', '2', '3']);
});

it('orders the events of one change by id', () => {
  const events = [event('2', 7), event('1', 7), event('3', 6)];
  expect(inFeedOrder(events).map(({ id }) => id)).toEqual(['3', '1', '2']);
});

it('loses no event of damaged revisions, which contradict each other', () => {
  const events = [
    { ...event('1', 2), userId: 'u', userRevision: 1 },
    { ...event('2', 1), userId: 'u', userRevision: 2 },
  ];
  expect(inFeedOrder(events)).toHaveLength(2);
});

it('orders a chain of any length', () => {
  const events = Array.from({ length: 50_000 }, (_, place) => event(String(100_000 + place), 50_000 - place));
  expect(inFeedOrder(events).map(({ id }) => id)).toEqual(events.map(({ id }) => id).toReversed());
});

it('tells which events others have to follow', () => {
  const revisions = new Revisions([event('1', 4), event('2', 6)]);
  expect([5, 6, 7].map((revision) => revisions.goBeyond(event('9', revision)))).toEqual([true, false, false]);
  expect(revisions.goBeyond({ ...event('9', 1), orgId: 'another' })).toBe(false);
  expect(revisions.goBeyond(event('9'))).toBe(false);
});

function event(id: string, orgRevision: number | null = null): Unnumbered {
  return { id, orgId: 'org', orgRevision, userId: null, userRevision: null };
}

function byId(one: Unnumbered, other: Unnumbered): number {
  return one.id < other.id ? -1 : 1;
}
