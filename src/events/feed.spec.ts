import * as fc from 'fast-check';
import type { Repository } from 'typeorm';
import { expect, it } from 'vitest';
import type { FeedEntry } from './event.entity.js';
import { FeedNumbering, inFeedOrder, type PendingMarks, precedingOnes } from './feed-numbering.js';
import { FeedRounds } from './feed-rounds.js';
import { FeedRepository, type Unnumbered } from './feed.repository.js';

interface Change {
  subject: 'org' | 'user' | undefined;
  number: number;
  /** how far the clock that made the id is off */
  skew: number;
  size: number;
}

const change = fc.record<Change>({
  subject: fc.constantFrom('org', 'user', undefined),
  number: fc.nat(3),
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
  return changes.flatMap(({ subject, number, skew, size }, time) => {
    const about = {
      orgId: subject === 'org' ? `o${number}` : null,
      orgRevision: subject === 'org' ? next(`o${number}`) : null,
      userId: subject === undefined ? null : `u${number}`,
      userRevision: subject === 'user' ? next(`u${number}`) : null,
    };
    return Array.from({ length: size }, (_, index) => ({
      id: `${String(1000 + time + skew)}.${String(time).padStart(4, '0')}.${index}`,
      ...about,
    }));
  });
}

const shuffled = (changes: readonly Change[]) =>
  fc.shuffledSubarray(committed(changes), { minLength: changes.reduce((sum, { size }) => sum + size, 0) });

function descents(events: readonly Unnumbered[]): string[] {
  const highest = new Map<string, number>();
  return events.flatMap(({ id, orgId, orgRevision, userId, userRevision }) => {
    const subject = orgRevision === null ? userId : orgId;
    const revision = orgRevision ?? userRevision;
    if (subject === null || revision === null) return [];
    const before = highest.get(subject) ?? 0;
    highest.set(subject, revision);
    return revision < before ? [id] : [];
  });
}

it('orders organizations and users by their revisions, whatever the clocks said, and keeps every event', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }).chain(shuffled), (events) => {
      const ordered = inFeedOrder(events);
      expect(descents(ordered)).toEqual([]);
      expect(ordered.toSorted(byId)).toEqual(events.toSorted(byId));
      // Every process gives the same order.
      expect(inFeedOrder(events.toReversed())).toEqual(ordered);
    }),
  );
});

it.each<[string, Unnumbered[], string]>([
  ['keeps the order of ids where no revision says otherwise', [event('3'), event('1'), event('2')], '123'],
  ['orders the events of one change by id', [event('2', 7), event('1', 7), event('3', 6)], '312'],
  [
    'gives each organization its own positions, so that others keep theirs',
    [event('1', 9), { ...event('2', 1), orgId: 'another' }, event('3', 8)],
    '321',
  ],
])('%s', (_what, events, expected) => {
  expect(inFeedOrder(events).map(({ id }) => id)).toEqual([...expected]);
});

it('tells which events others have to follow', () => {
  const events = [event('1', 4), event('2', 6)];
  const later = [
    event('7', 5),
    event('8', 6),
    event('9', 7),
    { ...event('9', 1), orgId: 'another' },
    event('9'),
  ];
  expect(precedingOnes(events, later).map(({ id }) => id)).toEqual(['7']);
});

it('looks for what precedes a change, and not for what precedes a creation, of which an import has many', async () => {
  const asked: unknown[][] = [];
  const query = async (_sql: string, values: unknown[]) => {
    asked.push(values);
    return [];
  };
  const feed = new FeedRepository({ query } as unknown as Repository<FeedEntry>);
  const about = (orgRevision: number | null, userRevision: number | null): Unnumbered => ({
    ...event('i', orgRevision),
    userId: 'u',
    userRevision,
  });

  expect(
    await feed.findUnnumberedBelow([about(1, 1), about(null, 1), about(1, null), about(null, null)]),
  ).toEqual([]);
  expect(asked).toEqual([]);
  await feed.findUnnumberedBelow([about(1, 1), about(null, 2)]);
  expect(asked).toEqual([['i', '', 0, 'u', '', 2]]);
});

it('shares the page after a cursor only with readers of the same limit', async () => {
  const rows = ['a', 'b', 'c'].map((eventId) => ({ eventId, id: null }));
  const asked: number[] = [];
  const query = async (_sql: string, [, limit]: [string, number]) => {
    asked.push(limit);
    return rows.slice(0, limit);
  };
  const feed = new FeedRepository({ query } as unknown as Repository<FeedEntry>);

  const pages = await Promise.all([1, 3, 1].map((limit) => feed.findAfter('cursor', limit)));

  expect(pages.map((page) => page!.length)).toEqual([1, 3, 1]);
  expect(asked).toEqual([1, 3]);
});

it('clears the marks only of events that got their number in this process', async () => {
  const [mine, others] = [event('1'), event('2')];
  const cleared: string[] = [];
  const rounds = [
    { last: 5, events: [mine, others], isAppended: false },
    // Another process has numbered one of them.
    { last: 6, events: [mine], isAppended: true },
  ];
  const feed = {
    findLast: async () => ({ seq: rounds[0]!.last }),
    findUnnumbered: async () => rounds[0]!.events,
    append: async () => rounds.shift()!.isAppended,
  };
  const marks = { clearSoon: (ids: string[]) => cleared.push(...ids) };
  const numbering = new FeedNumbering(feed as unknown as FeedRepository, marks as unknown as PendingMarks);

  expect(await numbering.round()).toEqual({ last: 7, mayHaveMore: false });
  expect(cleared).toEqual([mine.id]);
});

it('makes rounds at most once in 100 ms, and no caller shares one that began before its call', async () => {
  const begun: number[] = [];
  const round = async () => {
    begun.push(performance.now());
    return { last: begun.length, mayHaveMore: false };
  };
  const rounds = new FeedRounds({ round } as unknown as FeedNumbering);

  for (const turn of [1, 2, 3, 4]) {
    const asked = performance.now();
    const shared = await Promise.all(Array.from({ length: 50 }, () => rounds.begin()));
    expect([...new Set(shared)].map(({ last }) => last)).toEqual([turn]);
    expect(begun.at(-1)!).toBeGreaterThanOrEqual(asked);
  }

  const gaps = begun.slice(1).map((at, turn) => at - begun[turn]!);
  // A timer of Node can be a little early by the clock that is read here.
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(98);
});

it('numbers a whole backlog, and no more once the process stops', async () => {
  const backlog = 6;
  let begun = 0;
  const round = async () => ({ last: ++begun, mayHaveMore: begun % backlog !== 0 });
  const rounds = new FeedRounds({ round } as unknown as FeedNumbering);
  await rounds.numberAll();
  expect(begun).toBe(backlog);
  rounds.beforeApplicationShutdown();
  await rounds.numberAll();
  expect(begun).toBe(backlog);
});

function event(id: string, orgRevision: number | null = null): Unnumbered {
  return { id, orgId: 'org', orgRevision, userId: null, userRevision: null };
}

function byId(one: Unnumbered, other: Unnumbered): number {
  return one.id < other.id ? -1 : 1;
}
