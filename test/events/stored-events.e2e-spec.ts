import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Event, FeedEntry } from '../../src/events/event.entity.js';
import { EventAddressesRepository } from '../../src/events/events.addresses.js';
import type { FeedNumbering } from '../../src/events/feed-numbering.js';
import { FeedRounds } from '../../src/events/feed-rounds.js';
import { FeedRepository } from '../../src/events/feed.repository.js';
import { FeedService } from '../../src/events/feed.service.js';
import { firstEntityIdAt } from '../../src/identifiers/entity-id.js';
import { times } from '../support/at-once.js';
import { aCleanUp } from '../support/clean-up.js';
import { openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { writeEvents } from '../support/feed.js';
import { anUnknownId } from '../support/personas.js';
import { idAt, insertRows } from '../support/rows.js';

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;

const { dataSource, db, ...data } = await openDataLayer();
const feed = new FeedRepository(dataSource.getRepository(FeedEntry));
beforeEach(async () => {
  for (const table of ['feed', 'events']) await db.query(`DELETE FROM ${table}`);
});
afterAll(() => data.close());

describe('the retention of events', () => {
  const IP = '198.51.100.7';
  /** Events of these times, with ids of them. */
  const insert = (ats: number[]) =>
    insertRows(
      db,
      'events',
      ats.map((at) => ({ id: idAt(at), at })),
      { type: 'session.started', actor_type: 'user', data: '{}', ip: IP },
    );
  const left = async (): Promise<[at: number, ip: unknown][]> =>
    (await db.query('SELECT at, ip FROM events ORDER BY id')).map(({ at, ip }) => [Number(at), ip]);

  it('deletes those that are older than EVENTS_RETENTION, to the millisecond', async () => {
    const oldest = NOW - 400 * DAY_MS;
    await insert([oldest - 1, oldest, NOW]);
    await aCleanUp(dataSource).deleteExpired(NOW);
    expect((await left()).map(([at]) => at)).toEqual([oldest, NOW]);
  });

  it('deletes their addresses after 90 days, and nothing else of them', async () => {
    const limit = NOW - 90 * DAY_MS;
    await insert([limit - 1, limit]);
    await aCleanUp(dataSource).deleteExpired(NOW);
    expect(await left()).toEqual([
      [limit - 1, null],
      [limit, IP],
    ]);
  });

  it('keeps the emails under which operators acted as long as an event by them', async () => {
    const [kept, expired, at] = [anUnknownId(), anUnknownId(), NOW - 401 * DAY_MS];
    const events = [
      { id: idAt(at), actor_id: expired },
      { id: idAt(at), actor_id: kept },
      { id: idAt(NOW), actor_id: kept },
    ];
    await insertRows(db, 'events', events, {
      type: 'account.enabled',
      at,
      actor_type: 'operator',
      data: '{}',
    });
    const emails = [
      { email: 'a@example.com', user_id: kept },
      { email: 'b@example.com', user_id: kept },
      { email: 'a@example.com', user_id: expired },
    ];
    await insertRows(db, 'operator_emails', emails);
    await aCleanUp(dataSource).deleteExpired(NOW);
    expect(await db.query('SELECT email, user_id FROM operator_emails ORDER BY email')).toEqual(
      emails.slice(0, 2),
    );
  });

  it('comes to the end of more than one run looks at, and takes up those that come later', async () => {
    await insert(times(2500, () => NOW - 100 * DAY_MS));
    const cleanUp = aCleanUp(dataSource);
    await cleanUp.deleteExpired(NOW);
    await insert([NOW - 95 * DAY_MS, NOW - 89 * DAY_MS]);
    await cleanUp.deleteExpired(NOW);
    expect((await left()).filter(([, ip]) => ip !== null)).toEqual([[NOW - 89 * DAY_MS, IP]]);
    await cleanUp.deleteExpired(NOW + 310 * DAY_MS);
    expect(await left()).toHaveLength(1);
  });
});

it('the addresses of a deleted user go, however many acts there are', async () => {
  const [user, other] = [anUnknownId(), anUnknownId()];
  const acts = [...times(501, () => user), other].map((actor) => ({ id: anUnknownId(), actor_id: actor }));
  const shared = { type: 'account.enabled', at: NOW, actor_type: 'operator', data: '{}', ip: '198.51.100.7' };
  await insertRows(db, 'events', acts, shared);
  const addresses = new EventAddressesRepository(dataSource.getRepository(Event));
  await data.transactions.run({ principal: user }, (tx) => addresses.deleteOfUser(tx, user));
  const left = await db.query('SELECT actor_id FROM events WHERE ip IS NOT NULL');
  expect(left).toEqual([{ actor_id: other }]);
});

describe('the clean-up of the feed', () => {
  const idOf = (days: number): string => firstEntityIdAt(NOW - days * DAY_MS);

  /** Places for events of these ages in days. Another process has deleted those that are not kept. */
  it.each<[string, ages: number[], kept: number[], left: number[]]>([
    [
      'takes the places of expired events, and those before them',
      [300, 402, 401, 399, 1],
      [300, 402, 401, 399, 1],
      [4, 5],
    ],
    ['takes the places of expired events that somebody else deleted', [403, 402, 401, 1], [1], [4]],
    [
      'takes those before an expired one that somebody else deleted, or start would meet a gap',
      [399, 401, 398, 1],
      [399, 398, 1],
      [3, 4],
    ],
    ['leaves the first place, which has no event, until it has expired', [3, 2, 1], [2, 1], [1, 2, 3]],
    ['leaves the newest place, or its reader had no cursor', [403, 402, 401], [], [3]],
  ])('%s', async (_what, ages, kept, left) => {
    await writeEvents(
      db,
      kept.map((days) => ({ id: idOf(days) })),
    );
    await insertRows(
      db,
      'feed',
      ages.map((days, place) => ({ seq: place + 1, event_id: idOf(days) })),
    );
    await aCleanUp(dataSource).deleteExpired(NOW);
    expect((await db.query('SELECT seq FROM feed ORDER BY seq')).map(({ seq }) => Number(seq))).toEqual(left);
  });
});

it('readers share the statement of a page that they ask for at once, and nobody gets one that was sent before', async () => {
  const READERS = 10;
  const PAGE = 100;
  const [first, second, third] = (await writeEvents(db, [{}, {}, {}])) as [string, string, string];
  await feed.append(0, [first, second]);
  const executed = recordStatements(dataSource);
  const pages = await Promise.all([
    ...times(READERS, () => feed.findAfter(first, PAGE)),
    feed.findAfter(first, PAGE + 1),
  ]);
  expect(executed).toHaveLength(2);
  expect(pages.map((page) => page?.map(({ id }) => id))).toEqual(times(READERS + 1, () => [second]));
  // The end of the feed, where each page is empty, takes one statement more.
  const atEnd = await Promise.all(times(READERS, () => feed.findAfter(second, PAGE)));
  expect(executed).toHaveLength(4);
  expect(atEnd).toEqual(times(READERS, () => []));
  const asked = feed.findAfter(second, PAGE);
  await feed.append(2, [third]);
  const askedLater = feed.findAfter(second, PAGE);
  await asked;
  expect((await askedLater)?.map(({ id }) => id)).toEqual([third]);
  expect(await feed.findAfter(anUnknownId(), PAGE), 'of an event without a place').toBeUndefined();
});

it('a feed that stays empty has no end, and the search for it stops after some rounds or when the reader leaves', async () => {
  let begun = 0;
  const round = () => Promise.resolve({ last: ++begun, mayHaveMore: false });
  const service = new FeedService(feed, new FeedRounds({ round } as unknown as FeedNumbering));
  await expect(service.end(AbortSignal.abort())).rejects.toMatchObject({ code: 'unavailable' });
  expect(begun).toBe(1);
  await expect(service.end(new AbortController().signal)).rejects.toMatchObject({ code: 'unavailable' });
  expect(begun).toBe(11);
});
