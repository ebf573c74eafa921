import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { isUniqueViolation } from '../database/transactions/database-errors.js';
import { idsOf, padded, placeholders } from '../database/statements.js';
import { EVENT_KEY, type Event, FeedEntry, SEQ_KEY } from './event.entity.js';
import { EVENT_COLUMNS } from './events.repository.js';

const PAGE = `SELECT f.event_id AS eventId, ${EVENT_COLUMNS} FROM feed f LEFT JOIN events e ON e.id = f.event_id`;

/** Numbered events stay `pending` for a while. For NOT EXISTS, MariaDB would read the whole feed. */
const UNNUMBERED = `SELECT e.id, e.org_id AS orgId, e.org_revision AS orgRevision, e.user_id AS userId,
    e.user_revision AS userRevision
  FROM events e LEFT JOIN feed f ON f.event_id = e.id WHERE e.pending = 1 AND f.seq IS NULL`;

export type Unnumbered = Pick<Event, 'id' | 'orgId' | 'orgRevision' | 'userId' | 'userRevision'>;

export const START = 'start';

/** `eventId` is the id of the event, also in cursors; `id` is null if the event was deleted. */
export type NumberedEvent = { eventId: string } & (Event | { id: null });

@Injectable()
export class FeedRepository {
  private readonly sharedPages = new Map<string, Promise<NumberedEvent[] | undefined>>();

  constructor(@InjectRepository(FeedEntry) private readonly feed: Repository<FeedEntry>) {}

  async findLast(): Promise<FeedEntry | undefined> {
    const sql =
      'SELECT f.seq, f.event_id AS eventId FROM feed f WHERE f.seq = (SELECT MAX(n.seq) FROM feed n)';
    return (await this.feed.query<FeedEntry[]>(sql))[0];
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
    return this.feed.query<NumberedEvent[]>(`${PAGE} WHERE f.seq > 0 ORDER BY f.seq LIMIT ?`, [limit]);
  }

  /**
   * Shares a page, because a round wakes all readers at once. Returns undefined if the feed lacks the event.
   *
   * @floor writes beside ten readers of the feed 0.9: 0.84 to 0.94 of the writes without readers
   */
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
    const sql = `SELECT MAX(f.seq) AS seq FROM feed f WHERE f.event_id IN (${placeholders(eventIds.length)})`;
    const rows = await this.feed.query<{ seq: number | null }[]>(sql, [...eventIds]);
    return rows[0]?.seq ?? undefined;
  }

  /** The newest entry stays, because the cursors of services that have read everything refer to it. */
  async findUpTo(seq: number, limit: number): Promise<number[]> {
    const sql = `SELECT f.seq FROM feed f WHERE f.seq <= ? AND f.seq < (SELECT MAX(n.seq) FROM feed n)
      ORDER BY f.seq LIMIT ?`;
    const rows = await this.feed.query<{ seq: number }[]>(sql, [seq, limit]);
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
    return this.feed.query<Unnumbered[]>(`${UNNUMBERED} ORDER BY e.id LIMIT ?`, [limit]);
  }

  async findUnnumberedBelow(events: readonly Unnumbered[]): Promise<Unnumbered[]> {
    const afterId = events.reduce((last, { id }) => (id > last ? id : last), '');
    const orgs = subjects(events, ({ orgId, orgRevision }) => [orgId, orgRevision]);
    const users = subjects(events, ({ userId, userRevision }) => [userId, userRevision]);
    if (orgs.below + users.below === 0) return [];
    // CONCAT keeps the engines from the indexes of organizations and users, which would read all of their events.
    return this.feed.query<Unnumbered[]>(
      `${UNNUMBERED} AND e.id > ?
        AND ((CONCAT(e.org_id) IN (${placeholders(orgs.ids.length)}) AND e.org_revision < ?)
          OR (CONCAT(e.user_id) IN (${placeholders(users.ids.length)}) AND e.user_revision < ?))`,
      [afterId, ...orgs.ids, orgs.below, ...users.ids, users.below],
    );
  }

  async findNumberedPending(limit: number): Promise<string[]> {
    const sql = `SELECT e.id FROM events e JOIN feed f ON f.event_id = e.id
      WHERE e.pending = 1 ORDER BY e.id LIMIT ?`;
    return idsOf(await this.feed.query(sql, [limit]));
  }

  private async findNumbered(eventId: string, limit: number): Promise<NumberedEvent[] | undefined> {
    // One statement, so that retention deletes no entry between the lookup of the cursor and the page.
    const sql = `${PAGE} WHERE f.seq > (SELECT c.seq FROM feed c WHERE c.event_id = ?) ORDER BY f.seq LIMIT ?`;
    const found = await this.feed.query<NumberedEvent[]>(sql, [eventId, limit]);
    if (found.length > 0) return found;
    const entries = await this.feed.query<unknown[]>('SELECT f.seq FROM feed f WHERE f.event_id = ?', [
      eventId,
    ]);
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
