import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { getMetadataArgsStorage, In, type Repository } from 'typeorm';
import { isSignedInOperator } from '../access/principal.js';
import { idsOf, inBatches, padded, placeholders } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import type { Position } from '../http/pages.js';
import { Event, rowsOf } from './event.entity.js';
import type { EventType, NewEvent } from './event-types.js';
import { OperatorEmailsRepository } from './operator-emails.repository.js';

export interface EventFilter {
  orgId?: string | undefined;
  userId?: string | undefined;
  actorIds?: readonly string[] | undefined;
  type?: EventType | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

const COLUMNS = getMetadataArgsStorage()
  .filterColumns(Event)
  .filter(({ options }) => options.select !== false)
  .map(({ propertyName, options }) => [options.name ?? propertyName, propertyName as keyof Event] as const);

const COLUMN_LIST = COLUMNS.map(([column]) => column).join(', ');
const ROW_PLACEHOLDERS = `(${COLUMNS.map(() => '?').join(', ')})`;
const SELECT = `SELECT ${COLUMNS.map(([column, field]) => `${column} AS ${field}`).join(', ')} FROM events`;

export const EVENT_COLUMNS = COLUMNS.map(([column, field]) => `e.${column} AS ${field}`).join(', ');

export const LATEST = 'g';

export const FIND_LAST = `SELECT id FROM events WHERE id < '${LATEST}' ORDER BY id DESC LIMIT 1`;

const MAX_REVISION = 2_147_483_647;

const MAX_LOGINS = 1000;

/** Only this class and `EventAddressesRepository` change the audit log. */
@Injectable()
export class EventsRepository {
  constructor(
    @InjectRepository(Event) private readonly events: Repository<Event>,
    private readonly operatorEmails: OperatorEmailsRepository,
  ) {}

  /** Measured hot: TypeORM takes longer to build the statement. */
  async record(tx: Transaction, ...events: NewEvent[]): Promise<void> {
    for await (const rows of inBatches(rowsOf(events))) {
      await tx.write(
        `INSERT INTO events (${COLUMN_LIST}) VALUES ${rows.map(() => ROW_PLACEHOLDERS).join(', ')}`,
        rows.flatMap((event) => COLUMNS.map(([, field]) => event[field])),
      );
    }
    const { id, email } = events.map(({ actor }) => actor).find(isSignedInOperator) ?? {};
    if (id && email) await this.operatorEmails.insert(tx, { email, userId: id });
  }

  findLatest(
    {
      orgId,
      userId,
      actorIds,
      from,
      before,
    }: Pick<EventFilter, 'orgId' | 'userId' | 'actorIds'> & {
      from: string;
      before: string;
    },
    limit: number,
    position: Position = { order: MAX_REVISION, id: LATEST },
  ): Promise<Event[]> {
    if (orgId !== undefined) {
      const [member, values] = userId === undefined ? ['', [orgId]] : [' AND user_id = ?', [orgId, userId]];
      // The engines use the index only for a range on `org_revision` alone.
      const sql = `${SELECT} WHERE org_id = ?${member} AND org_revision <= ? AND (org_revision < ? OR id < ?)
        ORDER BY org_revision DESC, id DESC LIMIT ?`;
      return this.events.query<Event[]>(sql, [...values, position.order, position.order, position.id, limit]);
    }
    const idBefore = position.id < before ? position.id : before;
    if (userId !== undefined) return this.findOfUser(userId, limit, idBefore);
    if (actorIds !== undefined) return this.findOfActors(actorIds, limit, idBefore);
    const sql = `${SELECT} WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?`;
    return this.events.query<Event[]>(sql, [from, idBefore, limit]);
  }

  /** One statement for each, or no index would give the order. */
  private async findOfActors(ids: readonly string[], limit: number, beforeId: string): Promise<Event[]> {
    const sql = `${SELECT} WHERE actor_id = ? AND id < ? ORDER BY id DESC LIMIT ?`;
    const lists = await Promise.all(ids.map((id) => this.events.query<Event[]>(sql, [id, beforeId, limit])));
    return lists
      .flat()
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit);
  }

  findOfUser(userId: string, limit: number, beforeId = LATEST): Promise<Event[]> {
    const sql = `${SELECT} WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ?`;
    return this.events.query<Event[]>(sql, [userId, beforeId, limit]);
  }

  findEndsOfAll(userId: string): Promise<Event[]> {
    const sql = `${SELECT} WHERE user_id = ? AND type = 'session.ended' AND session_id IS NULL ORDER BY id`;
    return this.events.query<Event[]>(sql, [userId]);
  }

  findMatching(
    { orgId, userId, actorIds = [], type, since, until }: EventFilter,
    limit: number,
  ): Promise<Event[]> {
    const conditions: [sql: string, ...values: (string | undefined)[]][] = [
      ['org_id = ?', orgId],
      ['user_id = ?', userId],
      [`actor_id IN (${placeholders(actorIds.length)})`, ...actorIds],
      ['type = ?', type],
      ['id >= ?', since === undefined ? undefined : firstEntityIdAt(since)],
      ['id < ?', until === undefined ? undefined : firstEntityIdAt(until)],
    ];
    const given = conditions.filter(([, value]) => value !== undefined);
    const where = given.length === 0 ? '' : `WHERE ${given.map(([sql]) => sql).join(' AND ')}`;
    const order = orgId === undefined ? 'id DESC' : 'org_revision DESC, id DESC';
    return this.events.query<Event[]>(`${SELECT} ${where} ORDER BY ${order} LIMIT ?`, [
      ...given.flatMap(([, ...values]) => values),
      limit,
    ]);
  }

  async findOldestId(): Promise<string | undefined> {
    return idsOf(await this.events.query('SELECT id FROM events ORDER BY id LIMIT 1'))[0];
  }

  async findPresent(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const asked = padded(ids, '');
    const sql = `SELECT id FROM events WHERE id IN (${placeholders(asked.length)})`;
    return idsOf(await this.events.query(sql, asked));
  }

  async findDeleted(userIds: readonly string[]): Promise<string[]> {
    if (userIds.length === 0) return [];
    const sql = `SELECT user_id AS id FROM events
      WHERE user_id IN (${placeholders(userIds.length)}) AND type = 'account.deleted'`;
    return idsOf(await this.events.query<{ id: string }[]>(sql, [...userIds]));
  }

  async findSignInAddresses(userId: string, since: number): Promise<string[]> {
    const sql = `SELECT ip FROM events WHERE user_id = ? AND id >= ? AND type = 'session.started' AND ip IS NOT NULL
      ORDER BY id DESC LIMIT ?`;
    const rows = await this.events.query<{ ip: string }[]>(sql, [userId, firstEntityIdAt(since), MAX_LOGINS]);
    return rows.map(({ ip }) => ip);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.events.delete([...ids]);
  }

  /** Skips rows that another transaction has locked. Returns the number of changed events. */
  async clearPending(tx: Transaction, ids: readonly string[]): Promise<number> {
    const sql = `SELECT id FROM events WHERE id IN (${placeholders(ids.length)})${tx.forUpdateOfFree}`;
    const free = idsOf(await tx.read(sql, [...ids]));
    if (free.length === 0) return 0;
    return tx.write(`UPDATE events SET pending = NULL WHERE id IN (${placeholders(free.length)})`, free);
  }

  async clearPendingOf(ids: readonly string[]): Promise<void> {
    await this.events.update({ id: In([...ids]), pending: 1 }, { pending: null });
  }

  async clearAllPending(): Promise<void> {
    await this.events.update({ pending: 1 }, { pending: null });
  }
}
