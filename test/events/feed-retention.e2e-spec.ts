import { afterEach, beforeEach, expect, it } from 'vitest';
import { firstEntityIdAt } from '../../src/identifiers/entity-id.js';
import { aCleanUp } from '../support/clean-up.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { writeEvents } from '../support/feed.js';

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const idOf = (days: number): string => firstEntityIdAt(NOW - days * DAY_MS);

let data: DataLayer;

beforeEach(async () => {
  data = await openDataLayer();
});
afterEach(() => data.close());

/** Places for events of these ages in days; those that are not kept have been deleted by another process. */
async function aFeed(ages: readonly number[], { kept }: { kept: readonly number[] }): Promise<void> {
  if (kept.length > 0)
    await writeEvents(
      data.db,
      kept.map((days) => ({ id: idOf(days) })),
    );
  for (const [place, days] of ages.entries()) {
    await data.db.query('INSERT INTO feed (seq, event_id) VALUES (?, ?)', [place + 1, idOf(days)]);
  }
}

async function left(): Promise<number[]> {
  await aCleanUp(data.dataSource).deleteExpired(NOW);
  return (await data.db.query('SELECT seq FROM feed ORDER BY seq')).map(({ seq }) => Number(seq));
}

it('takes the places of expired events, and those before them', async () => {
  await aFeed([300, 402, 401, 399, 1], { kept: [300, 402, 401, 399, 1] });
  expect(await left()).toEqual([4, 5]);
});

it('takes the places of expired events that somebody else deleted', async () => {
  await aFeed([403, 402, 401, 1], { kept: [1] });
  expect(await left()).toEqual([4]);
});

it('takes those before an expired one that somebody else deleted, or start would meet a gap', async () => {
  await aFeed([399, 401, 398, 1], { kept: [399, 398, 1] });
  expect(await left()).toEqual([3, 4]);
});

it('leaves the first place, which has no event, until it has expired', async () => {
  await aFeed([3, 2, 1], { kept: [2, 1] });
  expect(await left()).toEqual([1, 2, 3]);
});

it('leaves the newest place, or its reader had no cursor', async () => {
  await aFeed([403, 402, 401], { kept: [] });
  expect(await left()).toEqual([3]);
});
