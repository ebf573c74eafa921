import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Event } from '../events/event.entity.js';
import type { EventType } from '../events/event-types.js';

export interface EventPage {
  events: Event[];
  /** the last event examined, if there may be more */
  last?: Event;
}

/** so many rows one request looks through for a type, which no index finds */
const MAX_SCANNED = 5000;
const CHUNK = 500;

/**
 * The first events of a type, or of all. Looking for a rare type ends after a number of rows: the page is short then,
 * and the next one goes on from there.
 */
export async function pageOf(
  { limit, type }: { limit: number; type: EventType | undefined },
  read: (size: number, after: Event | undefined) => Promise<Event[]>,
): Promise<EventPage> {
  const events: Event[] = [];
  const size = type === undefined ? limit : CHUNK;
  let last: Event | undefined;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += size) {
    const rows = await read(size + 1, last);
    for (const event of rows.slice(0, size)) {
      last = event;
      if (type === undefined || event.type === type) events.push(event);
      if (events.length === limit) break;
    }
    const isLast = rows.length <= size && (rows.length === 0 || last === rows.at(-1));
    if (isLast || events.length === limit) return isLast ? { events } : { events, last: last! };
    // On SQLite nothing else would get a turn.
    await yieldToEventLoop();
  }
  return last ? { events, last } : { events };
}
