import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { isUniqueViolation } from '../database/transactions/database-errors.js';
import { hotStatement, idsOf, padded, places } from '../database/statements.js';
import { EVENT_KEY, type Event, FeedEntry, SEQ_KEY } from './event.entity.js';
import { EVENT_COLUMNS } from './events.repository.js';

const FIND_LAST = hotStatement(
  'the end of the feed',
  'SELECT f.seq, f.event_id AS eventId FROM feed f WHERE f.seq = (SELECT MAX(n.seq) FROM feed n)',
);

const PAGE = `SELECT f.event_id AS place, ${EVENT_COLUMNS} FROM feed f LEFT JOIN events e ON e.id = f.event_id`;
const FIND_FIRST = hotStatement(
  'the beginning of the feed',
  `${PAGE} WHERE f.seq > 0 ORDER BY f.seq LIMIT ?`,
);
// One statement, so that retention deletes no entry between the lookup of the cursor and the page.
const FIND_AFTER = hotStatement(
  'a page of the feed',
  `${PAGE} WHERE f.seq > (SELECT c.seq FROM feed c WHERE c.event_id = ?) ORDER BY f.seq LIMIT ?`,
);

const FIND_ENTRY = hotStatement('a cursor of the feed', 'SELECT f.seq FROM feed f WHERE f.event_id = ?');

const findLastOf = (size: number): string =>
  `SELECT MAX(f.seq) AS seq FROM feed f WHERE f.event_id IN (${places(size)})`;
hotStatement('the last of several events in the feed', findLastOf(2));

/** The newest entry stays, because the cursors of services that have read everything refer to it. */
const FIND_UP_TO = hotStatement(
  'the clean-up of the feed',
  `SELECT f.seq FROM feed f WHERE f.seq <= ? AND f.seq < (SELECT MAX(n.seq) FROM feed n)
    ORDER BY f.seq LIMIT ?`,
  [0, 1],
);

/** Numbered events stay `pending` for a while. For NOT EXISTS, MariaDB would read the whole feed. */
const UNNUMBERED = `SELECT e.id, e.org_id AS orgId, e.org_revision AS orgRevision, e.user_id AS userId,
    e.user_revision AS userRevision
  FROM events e LEFT JOIN feed f ON f.event_id = e.id WHERE e.pending = 1 AND f.seq IS NULL`;
const FIND_UNNUMBERED = hotStatement(
  'the events that are to be numbered',
  `${UNNUMBERED} ORDER BY e.id LIMIT ?`,
);
// CONCAT keeps the engines from the indexes of organizations and users, which would read all of their events.
const findEarlier = (orgs: number, users: number): string => `${UNNUMBERED} AND e.id > ?
  AND ((CONCAT(e.org_id) IN (${places(orgs)}) AND e.org_revision < ?)
    OR (CONCAT(e.user_id) IN (${places(users)}) AND e.user_revision < ?))`;
hotStatement('the events that are to be numbered with others', findEarlier(1, 1), ['', '', 1, '', 1]);

const FIND_NUMBERED_PENDING = hotStatement(
  'the numbered events whose mark was not cleared',
  `SELECT e.id FROM events e JOIN feed f ON f.event_id = e.id WHERE e.pending = 1 ORDER BY e.id LIMIT ?`,
);

export type Unnumbered = Pick<Event, 'id' | 'orgId' | 'orgRevision' | 'userId' | 'userRevision'>;

export const START = 'start';

/** `place` is the id of the event, also in cursors; `id` is null if the event was deleted. */
export type NumberedEvent = { place: string } & (Event | { id: null });

@Injectable()
export class FeedRepository {
  private readonly sharedPages = new Map<string, Promise<NumberedEvent[] | undefined>>();

  constructor(@InjectRepository(FeedEntry) private readonly feed: Repository<FeedEntry>) {}

  async findLast(): Promise<FeedEntry | undefined> {
    return (await this.feed.query<FeedEntry[]>(FIND_LAST, []))[0];
  }

  /** Returns false if a number is taken, or if an event already has a number. */
  async append(after: number, ids: readonly string[]): Promise<boolean> {
    try {
      await this.feed.query(
        `INSERT INTO feed (seq, event_id) VALUES ${ids.map(() => '(?, ?)').join(', ')}`,
        ids.flatMap((id, index) => [after + 1 + index, id]),
      );
      return true;
    } catch (error) {
      if (isUniqueViolation(error, SEQ_KEY) || isUniqueViolation(error, EVENT_KEY)) return false;
      throw error;
    }
  }

  async findFirst(limit: number): Promise<NumberedEvent[]> {
    await yieldToEventLoop();
    return this.feed.query<NumberedEvent[]>(FIND_FIRST, [limit]);
  }

  /** Shares a page, because a round wakes all readers at once. Returns undefined if the feed lacks the event. */
  findAfter(eventId: string, limit: number): Promise<NumberedEvent[] | undefined> {
    if (eventId === START) return this.findFirst(limit);
    const key = `${eventId} ${limit}`;
    const shared = this.sharedPages.get(key);
    if (shared) return shared;
    const page = yieldToEventLoop().then(() => {
      this.sharedPages.delete(key);
      return this.findNumbered(eventId, limit);
    });
    this.sharedPages.set(key, page);
    return page;
  }

  async findLastOf(eventIds: readonly string[]): Promise<number | undefined> {
    const rows = await this.feed.query<{ seq: number | null }[]>(findLastOf(eventIds.length), [...eventIds]);
    return rows[0]?.seq ?? undefined;
  }

  async findUpTo(seq: number, limit: number): Promise<number[]> {
    const rows = await this.feed.query<{ seq: number }[]>(FIND_UP_TO, [seq, limit]);
    return rows.map((row) => row.seq);
  }

  async findOldest(limit: number): Promise<number[]> {
    const entries = await this.feed.find({ select: { seq: true }, order: { seq: 'ASC' }, take: limit });
    return entries.map(({ seq }) => seq);
  }

  async delete(seqs: readonly number[]): Promise<void> {
    await this.feed.delete({ seq: In([...seqs]) });
  }

  findUnnumbered(limit: number): Promise<Unnumbered[]> {
    return this.feed.query<Unnumbered[]>(FIND_UNNUMBERED, [limit]);
  }

  async findUnnumberedBelow(events: readonly Unnumbered[]): Promise<Unnumbered[]> {
    const afterId = events.reduce((last, { id }) => (id > last ? id : last), '');
    const orgs = subjects(events, ({ orgId, orgRevision }) => [orgId, orgRevision]);
    const users = subjects(events, ({ userId, userRevision }) => [userId, userRevision]);
    if (orgs.below + users.below === 0) return [];
    const values = [afterId, ...orgs.ids, orgs.below, ...users.ids, users.below];
    return this.feed.query<Unnumbered[]>(findEarlier(orgs.ids.length, users.ids.length), values);
  }

  async findNumberedPending(limit: number): Promise<string[]> {
    return idsOf(await this.feed.query(FIND_NUMBERED_PENDING, [limit]));
  }

  private async findNumbered(eventId: string, limit: number): Promise<NumberedEvent[] | undefined> {
    const found = await this.feed.query<NumberedEvent[]>(FIND_AFTER, [eventId, limit]);
    if (found.length > 0) return found;
    const entries = await this.feed.query<unknown[]>(FIND_ENTRY, [eventId]);
    return entries.length > 0 ? found : undefined;
  }
}

const FIRST_REVISION = 1;

function subjects(
  events: readonly Unnumbered[],
  of: (event: Unnumbered) => [id: string | null, revision: number | null],
): { ids: string[]; below: number } {
  const ids = new Set<string>();
  let below = 0;
  for (const event of events) {
    const [id, revision] = of(event);
    // No event precedes the creation of an organization or a user, and an import creates many of them.
    if (id === null || revision === null || revision <= FIRST_REVISION) continue;
    ids.add(id);
    below = Math.max(below, revision);
  }
  return { ids: padded([...ids, ''], ''), below };
}
