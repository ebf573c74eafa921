import { afterEach, beforeEach, expect, it } from 'vitest';
import { aCleanUp } from '../support/clean-up.js';
import { times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
/** More than one run of either kind looks at. */
const MANY = 2500;

let data: DataLayer;

beforeEach(async () => {
  data = await openDataLayer();
});
afterEach(() => data.close());

/** An event of that time, whose id is made of it as a UUIDv7 is. */
const idAt = (time: number, number = 0): string => {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8000-${String(number).padStart(12, '0')}`;
};

async function insert(events: { at: number; number?: number }[]): Promise<void> {
  for (let from = 0; from < events.length; from += 500) {
    const some = events.slice(from, from + 500);
    await data.db.query(
      `INSERT INTO events (id, type, at, actor_type, data, ip) VALUES ${some
        .map(() => "(?, 'session.started', ?, 'user', '{}', '198.51.100.7')")
        .join()}`,
      some.flatMap(({ at, number }) => [idAt(at, number), at]),
    );
  }
}

async function left(): Promise<unknown[]> {
  return (await data.db.query('SELECT at, ip FROM events ORDER BY id')).map(({ at, ip }) => [Number(at), ip]);
}

it('deletes events that are older than EVENTS_RETENTION, to the millisecond', async () => {
  const oldest = NOW - 400 * DAY_MS;
  await insert([{ at: oldest - 1 }, { at: oldest }, { at: NOW }]);
  await aCleanUp(data.dataSource).deleteExpired(NOW);
  expect((await left()).map((row) => (row as number[])[0])).toEqual([oldest, NOW]);
});

it('deletes the addresses of events after 90 days, and nothing else of them', async () => {
  const limit = NOW - 90 * DAY_MS;
  await insert([{ at: limit - 1 }, { at: limit }]);
  await aCleanUp(data.dataSource).deleteExpired(NOW);
  expect(await left()).toEqual([
    [limit - 1, null],
    [limit, '198.51.100.7'],
  ]);
});

it('comes to the end of many, and takes up those that come later', async () => {
  await insert(times(MANY, (number) => ({ at: NOW - 100 * DAY_MS, number })));
  const cleanUp = aCleanUp(data.dataSource);
  await cleanUp.deleteExpired(NOW);
  await insert([{ at: NOW - 95 * DAY_MS }, { at: NOW - 89 * DAY_MS }]);
  await cleanUp.deleteExpired(NOW);
  const addresses = (await left()).filter((row) => (row as unknown[])[1] !== null);
  expect(addresses).toEqual([[NOW - 89 * DAY_MS, '198.51.100.7']]);
  await cleanUp.deleteExpired(NOW + 310 * DAY_MS);
  expect(await left()).toHaveLength(1);
});
