import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Event } from './event.entity.js';
import type { EventType } from './event-types.js';

export interface EventPage {
  events: Event[];
  /** the last event examined, if there may be more */
  last?: Event;
}

/** Reads per page of the answer: no index finds a type, so a filtered page costs at most this many others. */
const MAX_READS = 5;

/** A search for a rare type stops after MAX_READS: its page is short, and the next one goes on from there. */
export async function pageOf(
  { limit, type }: { limit: number; type: EventType | undefined },
  read: (size: number, after: Event | undefined) => Promise<Event[]>,
): Promise<EventPage> {
  const events: Event[] = [];
  let last: Event | undefined;
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const rows = await read(limit + 1, last);
    for (const event of rows.slice(0, limit)) {
      last = event;
      if (type === undefined || event.type === type) events.push(event);
      if (events.length === limit) break;
    }
    const isLast = rows.length <= limit && (rows.length === 0 || last === rows.at(-1));
    if (isLast || events.length === limit) return isLast ? { events } : { events, last: last! };
    // On SQLite nothing else would get a turn.
    await yieldToEventLoop();
  }
  return last ? { events, last } : { events };
}
