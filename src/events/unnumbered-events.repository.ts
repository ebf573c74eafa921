import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { hotStatement } from '../database/hot-statements.js';
import { padded, places } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { Event } from './event.entity.js';
import type { Unnumbered } from './feed-order.js';

const FIRST_REVISION = 1;

// A number is given before the mark is cleared, so that the mark alone says nothing. MariaDB would read the whole feed for
// a NOT EXISTS.
const UNNUMBERED = `SELECT e.id, e.org_id AS orgId, e.org_revision AS orgRevision, e.user_id AS userId,
    e.user_revision AS userRevision
  FROM events e LEFT JOIN feed f ON f.event_id = e.id WHERE e.pending = 1 AND f.seq IS NULL`;

const FIND_OLDEST = hotStatement(
  'the events that are to be numbered',
  `${UNNUMBERED} ORDER BY e.id LIMIT ?`,
  [1],
);

// CONCAT keeps the engines from the indexes of organizations and users, which would lead through everything that they
// ever did.
const findLater = (orgs: number, users: number): string => `${UNNUMBERED} AND e.id > ?
  AND ((CONCAT(e.org_id) IN (${places(orgs)}) AND e.org_revision < ?)
    OR (CONCAT(e.user_id) IN (${places(users)}) AND e.user_revision < ?))`;
hotStatement('the events that are to be numbered with others', findLater(1, 1), ['', '', 1, '', 1]);

const FIND_MARKED = hotStatement(
  'the numbered events whose mark was not cleared',
  `SELECT e.id FROM events e JOIN feed f ON f.event_id = e.id WHERE e.pending = 1 ORDER BY e.id LIMIT ?`,
  [1],
);

@Injectable()
export class UnnumberedEventsRepository {
  constructor(@InjectRepository(Event) private readonly events: Repository<Event>) {}

  findOldest(limit: number): Promise<Unnumbered[]> {
    return this.events.query<Unnumbered[]>(FIND_OLDEST, [limit]);
  }

  /** Finds those with a greater id than all of `among`, about their subjects, and below the highest of their revisions. */
  async findLater(among: readonly Unnumbered[]): Promise<Unnumbered[]> {
    const afterId = among.reduce((last, { id }) => (id > last ? id : last), '');
    const orgs = subjects(among, ({ orgId, orgRevision }) => [orgId, orgRevision]);
    const users = subjects(among, ({ userId, userRevision }) => [userId, userRevision]);
    if (orgs.below + users.below === 0) return [];
    const values = [afterId, ...orgs.ids, orgs.below, ...users.ids, users.below];
    return this.events.query<Unnumbered[]>(findLater(orgs.ids.length, users.ids.length), values);
  }

  async findMarked(limit: number): Promise<string[]> {
    const rows = await this.events.query<{ id: string }[]>(FIND_MARKED, [limit]);
    return rows.map(({ id }) => id);
  }

  /** Leaves out rows that somebody else has locked; returns how many it cleared. */
  async clear(transaction: Transaction, ids: readonly string[]): Promise<number> {
    const isOne = `id IN (${places(ids.length)})`;
    const rows = await transaction.read<{ id: string }>(
      `SELECT id FROM events WHERE ${isOne}${transaction.forUpdateOfFree}`,
      [...ids],
    );
    if (rows.length === 0) return 0;
    return transaction.write(
      `UPDATE events SET pending = NULL WHERE id IN (${places(rows.length)})`,
      rows.map(({ id }) => id),
    );
  }

  clearMarks(ids: readonly string[]): Promise<unknown> {
    return this.events.update({ id: In([...ids]), pending: 1 }, { pending: null });
  }

  /** For a restored database. */
  clearAll(): Promise<unknown> {
    return this.events.update({ pending: 1 }, { pending: null });
  }
}

function subjects(
  events: readonly Unnumbered[],
  of: (event: Unnumbered) => [id: string | null, revision: number | null],
): { ids: string[]; below: number } {
  const ids = new Set<string>();
  let below = 0;
  for (const event of events) {
    const [id, revision] = of(event);
    // Nothing precedes what created an organization or an account, and an import creates many.
    if (id === null || revision === null || revision <= FIRST_REVISION) continue;
    ids.add(id);
    below = Math.max(below, revision);
  }
  return { ids: padded([...ids, ''], ''), below };
}
