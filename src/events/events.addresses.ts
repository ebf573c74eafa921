import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { hotStatement, idsOf, inBatches, MAX_ROWS_AT_ONCE, places } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { Event } from './event.entity.js';

export const ADDRESS_RETENTION_MS = 90 * 86_400_000;

const FIND_BETWEEN = hotStatement(
  'the clean-up of the record, and of its addresses',
  'SELECT id, ip IS NOT NULL AS hasAddress FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?',
);
const FIND_ABOUT = hotStatement(
  'the addresses in the record of a user',
  `SELECT id FROM events WHERE user_id = ? AND id > ? AND ip IS NOT NULL AND actor_type <> 'operator'
    ORDER BY id LIMIT ${MAX_ROWS_AT_ONCE}`,
);
const FIND_ORGS_OF_USER = hotStatement(
  'the organizations in the record of a user',
  'SELECT DISTINCT org_id AS id FROM events WHERE user_id = ? AND org_id IS NOT NULL',
);
const findActsIn = (size: number): string =>
  `SELECT id FROM events WHERE org_id IN (${places(size)}) AND actor_id = ? AND ip IS NOT NULL`;
hotStatement('the addresses of what a user did', findActsIn(2));
const FIND_ACTS_SINCE = hotStatement(
  'the addresses of what a user did just now',
  'SELECT id FROM events WHERE id >= ? AND actor_id = ? AND ip IS NOT NULL',
  ['g', ''],
);
const FIND_OPERATOR_GRANT = hotStatement(
  'the first time that a user became an operator',
  `SELECT id FROM events WHERE user_id = ? AND type = 'account.operator_granted' ORDER BY id LIMIT 1`,
);
const FIND_ACTS_OF_OPERATOR = hotStatement(
  'the addresses of what an operator did',
  `SELECT id, actor_type = 'operator' AND actor_id = ? AND ip IS NOT NULL AS isAct
    FROM events WHERE id > ? ORDER BY id LIMIT ?`,
);

const ORGS_AT_ONCE = 20;
const EVENTS_AT_ONCE = 5000;

/** Finds and deletes IP addresses, the only part of an event that Accounts deletes before its row. */
@Injectable()
export class EventAddresses {
  constructor(@InjectRepository(Event) private readonly events: Repository<Event>) {}

  findBetween(afterId: string, time: number, limit: number): Promise<{ id: string; hasAddress: 0 | 1 }[]> {
    return this.events.query(FIND_BETWEEN, [afterId, firstEntityIdAt(time), limit]);
  }

  async deleteOf(ids: readonly string[]): Promise<void> {
    await this.events.update({ id: In(ids) }, { ip: null });
  }

  /** Searches the organizations that the user belongs to or has events in, because no index has the actor. */
  async findActs(userId: string, orgIds: readonly string[]): Promise<string[]> {
    const all = new Set([...orgIds, ...(await this.findIds(FIND_ORGS_OF_USER, [userId]))]);
    const found: string[] = [];
    for await (const orgs of inBatches([...all], ORGS_AT_ONCE)) {
      for (const id of await this.findIds(findActsIn(orgs.length), [...orgs, userId])) found.push(id);
    }
    return [...found, ...(await this.findActsOfOperator(userId))];
  }

  /** `since` is in epoch milliseconds. Keeps an operator's address in an event about the user. */
  async deleteOfUser(
    tx: Transaction,
    userId: string,
    { acts, since }: { acts: readonly string[]; since: number },
  ): Promise<void> {
    const recent = idsOf(await tx.read(FIND_ACTS_SINCE, [firstEntityIdAt(since), userId]));
    for await (const ids of inBatches([...acts, ...recent])) await tx.write(deleteIn(ids), ids);
    for (let after: string | undefined = ''; after !== undefined;) {
      const ids = idsOf(await tx.read(FIND_ABOUT, [userId, after]));
      if (ids.length > 0) await tx.write(deleteIn(ids), ids);
      after = ids.length < MAX_ROWS_AT_ONCE ? undefined : ids.at(-1)!;
    }
  }

  /** Reads all events since the grant, because an operator can change any user. */
  private async findActsOfOperator(userId: string): Promise<string[]> {
    const [grantId] = await this.findIds(FIND_OPERATOR_GRANT, [userId]);
    const oldest = firstEntityIdAt(Date.now() - ADDRESS_RETENTION_MS);
    const found: string[] = [];
    for (let after = grantId && (grantId > oldest ? grantId : oldest); after !== undefined;) {
      const values = [userId, after, EVENTS_AT_ONCE];
      const page = await this.events.query<{ id: string; isAct: 0 | 1 }[]>(FIND_ACTS_OF_OPERATOR, values);
      found.push(...idsOf(page.filter(({ isAct }) => isAct)));
      after = page.length < EVENTS_AT_ONCE ? undefined : page.at(-1)!.id;
    }
    return found;
  }

  private async findIds(sql: string, values: unknown[]): Promise<string[]> {
    return idsOf(await this.events.query(sql, values));
  }
}

const deleteIn = (ids: readonly string[]): string =>
  `UPDATE events SET ip = NULL WHERE id IN (${places(ids.length)})`;
