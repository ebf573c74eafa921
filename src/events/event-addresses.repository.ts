import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { hotStatement } from '../database/hot-statements.js';
import { inBatches, MAX_ROWS_AT_ONCE } from '../database/in-batches.js';
import { places } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { Event } from './event.entity.js';

/** The clean-up clears older ones. */
export const ADDRESS_RETENTION_MS = 90 * 86_400_000;

const FIND_IDS_BETWEEN = hotStatement(
  'the clean-up of addresses',
  'SELECT id, ip IS NOT NULL AS hasAddress FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?',
  ['', '', 1],
);

const FIND_ABOUT = hotStatement(
  'the addresses in the record of a user',
  `SELECT id FROM events WHERE user_id = ? AND id > ? AND ip IS NOT NULL AND actor_type <> 'operator'
    ORDER BY id LIMIT ${MAX_ROWS_AT_ONCE}`,
  ['', ''],
);

const FIND_ORGS = hotStatement(
  'the organizations in the record of a user',
  'SELECT DISTINCT org_id AS id FROM events WHERE user_id = ? AND org_id IS NOT NULL',
  [''],
);

const ORGS_AT_ONCE = 20;
const findActsIn = (size: number): string =>
  `SELECT id FROM events WHERE org_id IN (${places(size)}) AND actor_id = ? AND ip IS NOT NULL`;
hotStatement('the addresses of what a user did', findActsIn(2), ['', '', '']);

const FIND_ACTS_SINCE = hotStatement(
  'the addresses of what a user did just now',
  'SELECT id FROM events WHERE id >= ? AND actor_id = ? AND ip IS NOT NULL',
  ['g', ''],
);

const FIND_GRANT = hotStatement(
  'the first time that a user became an operator',
  `SELECT id FROM events WHERE user_id = ? AND type = 'account.operator_granted' ORDER BY id LIMIT 1`,
  [''],
);

const EVENTS_AT_ONCE = 5000;
const FIND_ACTS_OF_OPERATOR = hotStatement(
  'the addresses of what an operator did',
  `SELECT id, actor_type = 'operator' AND actor_id = ? AND ip IS NOT NULL AS isAct
    FROM events WHERE id > ? ORDER BY id LIMIT ${EVENTS_AT_ONCE}`,
  ['', ''],
);

/** Addresses are the only part of the record of changes that is ever deleted before its row. */
@Injectable()
export class EventAddressesRepository {
  constructor(@InjectRepository(Event) private readonly events: Repository<Event>) {}

  /** Finds events after an id and before a time (epoch milliseconds), and whether they hold an address. */
  findBetween(afterId: string, time: number, limit: number): Promise<{ id: string; hasAddress: 0 | 1 }[]> {
    return this.events.query(FIND_IDS_BETWEEN, [afterId, firstEntityIdAt(time), limit]);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.events.update({ id: In(ids) }, { ip: null });
  }

  // Finds events with the address of what a user did to others. No index finds them by who acted, but they are in
  // organizations that have an event about the user, or that the user belongs to.
  async findActs(userId: string, orgIds: readonly string[]): Promise<string[]> {
    const recorded = await this.events.query<{ id: string }[]>(FIND_ORGS, [userId]);
    const all = new Set([...orgIds, ...recorded.map(({ id }) => id)]);
    const found: string[] = [];
    for await (const orgs of inBatches([...all], ORGS_AT_ONCE)) {
      const rows = await this.events.query<{ id: string }[]>(findActsIn(orgs.length), [...orgs, userId]);
      for (const { id } of rows) found.push(id);
    }
    return [...found, ...(await this.findActsOfOperator(userId))];
  }

  /** They can be about anybody: reads all events since the user became an operator that can have an address. */
  private async findActsOfOperator(userId: string): Promise<string[]> {
    const [grant] = await this.events.query<{ id: string }[]>(FIND_GRANT, [userId]);
    const found: string[] = [];
    const oldest = firstEntityIdAt(Date.now() - ADDRESS_RETENTION_MS);
    for (let after = grant && (grant.id > oldest ? grant.id : oldest); after !== undefined;) {
      const values = [userId, after];
      const page = await this.events.query<{ id: string; isAct: 0 | 1 }[]>(FIND_ACTS_OF_OPERATOR, values);
      for (const { id, isAct } of page) if (isAct) found.push(id);
      after = page.length < EVENTS_AT_ONCE ? undefined : page.at(-1)!.id;
    }
    return found;
  }

  /**
   * Clears `acts`, events about the user, and what the user did since a time (epoch milliseconds). An operator's address
   * is no address of the user's.
   */
  async deleteOf(
    transaction: Transaction,
    userId: string,
    { acts, since }: { acts: readonly string[]; since: number },
  ): Promise<void> {
    const recent = await transaction.read<{ id: string }>(FIND_ACTS_SINCE, [firstEntityIdAt(since), userId]);
    for await (const ids of inBatches([...acts, ...recent.map(({ id }) => id)])) {
      await this.deleteIn(transaction, ids);
    }
    for (let after = ''; ;) {
      const rows = await transaction.read<{ id: string }>(FIND_ABOUT, [userId, after]);
      const ids = rows.map(({ id }) => id);
      if (ids.length > 0) await this.deleteIn(transaction, ids);
      if (ids.length < MAX_ROWS_AT_ONCE) return;
      after = ids.at(-1)!;
    }
  }

  private async deleteIn(transaction: Transaction, ids: readonly string[]): Promise<void> {
    await transaction.write(`UPDATE events SET ip = NULL WHERE id IN (${places(ids.length)})`, [...ids]);
  }
}
