import { afterAll, beforeAll, expect, it } from 'vitest';
import { FeedEntry } from '../../src/feed/feed-entry.entity.js';
import { FeedRepository } from '../../src/feed/feed.repository.js';
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

it('readers share the statement of a page that they ask for at once, and nobody gets one that was sent before', async () => {
  const feed = new FeedRepository(data.dataSource.getRepository(FeedEntry));
  const [first, second] = [await anEvent(), await anEvent()];
  await feed.append(0, [first]);
  const executed = recordStatements(data.dataSource);
  const after = (cursor: string, limit: number) => () => feed.findAfter(cursor, limit);

  const same = times(READERS, () => after(first, PAGE));
  const pages = await Promise.all([...same, after(first, PAGE + 1), after(second, PAGE)].map((ask) => ask()));
  expect(executed).toHaveLength(3);
  expect(pages).toEqual(times(READERS + 2, () => []));

  const asked = feed.findAfter(first, PAGE);
  await feed.append(1, [second]);
  const askedLater = feed.findAfter(first, PAGE);
  await asked;
  expect((await askedLater).map(({ id }) => id)).toEqual([second]);
});

async function anEvent(): Promise<string> {
  const id = anUnknownId();
  await data.db.query(
    "INSERT INTO events (id, type, at, actor_type, data) VALUES (?, 'org.created', 1, 'system', '{}')",
    [id],
  );
  return id;
}
