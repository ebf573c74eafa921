import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { idsOf, MAX_ROWS_AT_ONCE, placeholders } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { Event } from './event.entity.js';

export const ADDRESS_RETENTION_MS = 90 * 86_400_000;

/** Accounts acts for users with their addresses, too. */
const OF_USER = ['actor_id = ?', "user_id = ? AND actor_type <> 'operator'"];

/** Finds and deletes IP addresses, the only part of an event that Accounts deletes before its row. */
@Injectable()
export class EventAddressesRepository {
  constructor(@InjectRepository(Event) private readonly events: Repository<Event>) {}

  findBetween(afterId: string, time: number, limit: number): Promise<{ id: string; hasAddress: 0 | 1 }[]> {
    const sql =
      'SELECT id, ip IS NOT NULL AS hasAddress FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?';
    return this.events.query(sql, [afterId, firstEntityIdAt(time), limit]);
  }

  async deleteOf(ids: readonly string[]): Promise<void> {
    await this.events.update({ id: In(ids) }, { ip: null });
  }

  /** Keeps an operator's address in an event about the user. */
  async deleteOfUser(tx: Transaction, userId: string): Promise<void> {
    for (const isOfUser of OF_USER) {
      const sql = `SELECT id FROM events WHERE ${isOfUser} AND id > ? AND ip IS NOT NULL
        ORDER BY id LIMIT ${MAX_ROWS_AT_ONCE}`;
      for (let after: string | undefined = ''; after !== undefined;) {
        const ids = idsOf(await tx.read<{ id: string }>(sql, [userId, after]));
        if (ids.length > 0)
          await tx.write(`UPDATE events SET ip = NULL WHERE id IN (${placeholders(ids.length)})`, ids);
        after = ids.length < MAX_ROWS_AT_ONCE ? undefined : ids.at(-1)!;
        await yieldToEventLoop();
      }
    }
  }
}
