import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { FeedEntry } from '../../src/events/event.entity.js';
import type { FeedNumbering } from '../../src/events/feed-numbering.js';
import { FeedRounds } from '../../src/events/feed-rounds.js';
import { FeedRepository } from '../../src/events/feed.repository.js';
import { FeedService } from '../../src/events/feed.service.js';
import { times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { anUnknownId } from '../support/personas.js';

const READERS = 10;
const PAGE = 100;

let data: DataLayer;

beforeAll(async () => {
  data = await openDataLayer();
});
afterAll(() => data.close());
beforeEach(async () => {
  await data.db.query('DELETE FROM feed');
});

it('readers share the statement of a page that they ask for at once, and nobody gets one that was sent before', async () => {
  const feed = new FeedRepository(data.dataSource.getRepository(FeedEntry));
  const [first, second, third] = [await anEvent(), await anEvent(), await anEvent()];
  await feed.append(0, [first, second]);
  const executed = recordStatements(data.dataSource);
  const after = (cursor: string, limit: number) => () => feed.findAfter(cursor, limit);

  const same = times(READERS, () => after(first, PAGE));
  const pages = await Promise.all([...same, after(first, PAGE + 1)].map((ask) => ask()));
  expect(executed).toHaveLength(2);
  expect(pages.map((page) => page?.map(({ id }) => id))).toEqual(times(READERS + 1, () => [second]));

  // The end of the feed, where each page is empty, takes one statement more.
  const atEnd = await Promise.all(times(READERS, () => after(second, PAGE)()));
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
  const rounds = new FeedRounds({ round } as unknown as FeedNumbering);
  const feed = new FeedService(new FeedRepository(data.dataSource.getRepository(FeedEntry)), rounds);

  await expect(feed.end(AbortSignal.abort())).rejects.toMatchObject({ code: 'unavailable' });
  expect(begun).toBe(1);
  await expect(feed.end(new AbortController().signal)).rejects.toMatchObject({ code: 'unavailable' });
  expect(begun).toBe(11);
});

async function anEvent(): Promise<string> {
  const id = anUnknownId();
  await data.db.query(
    "INSERT INTO events (id, type, at, actor_type, data) VALUES (?, 'org.created', 1, 'system', '{}')",
    [id],
  );
  return id;
}
