import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { cursorExpired } from '../support/expected.js';
import { readFeed, untilNumbered, writeEvents } from '../support/feed.js';
import { startOwnService } from '../support/service.js';
import { aServiceCaller } from '../support/service-caller.js';

const service = await startOwnService();
const { db } = service.installation;
const billing = await aServiceCaller(service, 'events');
afterAll(() => service.stop());

describe('the beginning of the feed', () => {
  beforeEach(async () => {
    await db.query('DELETE FROM events');
    await db.query('DELETE FROM feed');
  });

  const places = async (): Promise<unknown[]> =>
    (await db.query('SELECT event_id AS place FROM feed ORDER BY seq')).map(({ place }) => place);
  const deleteEvents = (ids: readonly string[]) =>
    db.query(`DELETE FROM events WHERE id IN (${ids.map(() => '?').join()})`, [...ids]);

  it('is a place of no event, so that a cursor of now is never the start', async () => {
    const { events, next } = await readFeed(billing);
    expect([events, await places()]).toEqual([[], [next]]);
    expect(await readFeed(billing, { after: 'start' })).toEqual({ events: [], next });
    const [id] = await writeEvents(db, [{}]);
    for (const after of [next, 'start']) {
      expect(await readFeed(billing, { after })).toMatchObject({ events: [{ id }], next: id });
    }
    await db.query('DELETE FROM feed');
    expect(await billing.get(`/api/events?after=${next}`)).toMatchObject(cursorExpired);
  });

  it('is behind places that have lost their events, however few a reader asks for', async () => {
    const ids = await writeEvents(
      db,
      times(7, () => ({})),
    );
    await untilNumbered(db);
    await deleteEvents(ids.slice(0, 5));
    for (const limit of [1, 2, 3, 6, 100]) {
      const { events, next } = await readFeed(billing, { after: 'start', limit });
      expect(
        events.map(({ id }) => id),
        `limit ${limit}`,
      ).toEqual(ids.slice(5, 5 + limit));
      expect(next).toBe(events.at(-1)!.id);
    }
    await deleteEvents(ids);
    expect(await readFeed(billing, { after: 'start', limit: 1 })).toEqual({ events: [], next: ids[6] });
  });
});
