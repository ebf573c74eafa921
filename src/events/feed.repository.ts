import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { isUniqueViolation } from '../database/database-errors.js';
import { hotStatement } from '../database/hot-statements.js';
import { places } from '../database/lookup.js';
import type { Event } from './event.entity.js';
import { EVENT_COLUMNS } from './events.repository.js';
import { EVENT_KEY, FeedEntry, SEQ_KEY } from './feed-entry.entity.js';

const FIND_LAST = hotStatement(
  'the end of the feed',
  'SELECT f.seq, f.event_id AS eventId FROM feed f WHERE f.seq = (SELECT MAX(n.seq) FROM feed n)',
  [],
);

/** LEFT, so that the engines begin with the feed. */
const PAGE = `SELECT f.event_id AS place, ${EVENT_COLUMNS} FROM feed f LEFT JOIN events e ON e.id = f.event_id`;
const FIND_FIRST = hotStatement(
  'the beginning of the feed',
  `${PAGE} WHERE f.seq > 0 ORDER BY f.seq LIMIT ?`,
  [1],
);
// One statement, so that nothing is deleted between the look at the cursor and the page. It finds nothing for a cursor
// that is no event of the feed.
const FIND_AFTER = hotStatement(
  'a page of the feed',
  `${PAGE} WHERE f.seq > (SELECT c.seq FROM feed c WHERE c.event_id = ?) ORDER BY f.seq LIMIT ?`,
  ['', 1],
);

const FIND_ENTRY = hotStatement('a cursor of the feed', 'SELECT f.seq FROM feed f WHERE f.event_id = ?', [
  '',
]);

const findLastOf = (size: number): string =>
  `SELECT MAX(f.seq) AS seq FROM feed f WHERE f.event_id IN (${places(size)})`;
hotStatement('the last of several events in the feed', findLastOf(2), ['', '']);

/** The newest stays, or the cursor of a reader that has read everything would be no event of the feed. */
const FIND_UP_TO = hotStatement(
  'the clean-up of the feed',
  `SELECT f.seq FROM feed f WHERE f.seq <= ? AND f.seq < (SELECT MAX(n.seq) FROM feed n)
    ORDER BY f.seq LIMIT ?`,
  [0, 1],
);

/** The event at a place, by which cursors name the place; `id` is null where there is none. */
export type Placed = { place: string } & (Event | { id: null });

@Injectable()
export class FeedRepository {
  private readonly asked = new Map<string, Promise<Placed[] | undefined>>();

  constructor(@InjectRepository(FeedEntry) private readonly feed: Repository<FeedEntry>) {}

  async findLast(): Promise<FeedEntry | undefined> {
    return (await this.feed.query<FeedEntry[]>(FIND_LAST, []))[0];
  }

  /** Gives the next places, in one statement; returns false if one of them, or of the events, has been taken. */
  async append(after: number, ids: readonly string[]): Promise<boolean> {
    try {
      await this.feed.query(
        `INSERT INTO feed (seq, event_id) VALUES ${ids.map(() => '(?, ?)').join(', ')}`,
        ids.flatMap((id, place) => [after + 1 + place, id]),
      );
      return true;
    } catch (error) {
      if (isUniqueViolation(error, SEQ_KEY) || isUniqueViolation(error, EVENT_KEY)) return false;
      throw error;
    }
  }

  async findFirst(limit: number): Promise<Placed[]> {
    await yieldToEventLoop();
    return this.feed.query<Placed[]>(FIND_FIRST, [limit]);
  }

  // Readers that ask for a page in the same turn of the event loop share it: a round wakes all of them. Everything else gets its
  // turn before, on SQLite, too. Returns undefined if the event has no place any more.
  findAfter(eventId: string, limit: number): Promise<Placed[] | undefined> {
    const key = `${eventId} ${limit}`;
    const asked = this.asked.get(key);
    if (asked) return asked;
    const found = yieldToEventLoop().then(() => {
      this.asked.delete(key);
      return this.findPlaced(eventId, limit);
    });
    this.asked.set(key, found);
    return found;
  }

  async findLastOf(eventIds: readonly string[]): Promise<number | undefined> {
    const rows = await this.feed.query<{ seq: number | null }[]>(findLastOf(eventIds.length), [...eventIds]);
    return rows[0]?.seq ?? undefined;
  }

  /** Returns the oldest places up to one, never the newest of all. */
  async findUpTo(seq: number, limit: number): Promise<number[]> {
    const rows = await this.feed.query<{ seq: number }[]>(FIND_UP_TO, [seq, limit]);
    return rows.map((row) => row.seq);
  }

  /** For a restored database. */
  async findOldest(limit: number): Promise<number[]> {
    const entries = await this.feed.find({ select: { seq: true }, order: { seq: 'ASC' }, take: limit });
    return entries.map(({ seq }) => seq);
  }

  async delete(seqs: readonly number[]): Promise<void> {
    await this.feed.delete({ seq: In([...seqs]) });
  }

  private async findPlaced(eventId: string, limit: number): Promise<Placed[] | undefined> {
    const found = await this.feed.query<Placed[]>(FIND_AFTER, [eventId, limit]);
    return found.length > 0 || (await this.has(eventId)) ? found : undefined;
  }

  private async has(eventId: string): Promise<boolean> {
    return (await this.feed.query<unknown[]>(FIND_ENTRY, [eventId])).length > 0;
  }
}
