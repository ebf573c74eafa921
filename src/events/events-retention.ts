import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Env } from '../config/env.js';
import { isColumnDenied, isTableDenied } from '../database/transactions/database-errors.js';
import { type Batch, BATCH, idsOf, MAX_ROWS_AT_ONCE } from '../database/statements.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { ADDRESS_RETENTION_MS, EventAddressesRepository } from './events.addresses.js';
import { EventsRepository } from './events.repository.js';
import { FeedRepository } from './feed.repository.js';

const MAX_SCANNED = 500;
const NOTHING: Batch = { examined: 0, deleted: 0 };

@Injectable()
export class EventsRetention {
  private readonly logger = new Logger('Cleanup');
  private withoutAddress = '';
  private mayOnlyAdd = false;

  constructor(
    private readonly events: EventsRepository,
    private readonly addresses: EventAddressesRepository,
    private readonly feed: FeedRepository,
    private readonly env: Env,
  ) {}

  async deleteEvents(now: number): Promise<Batch> {
    if (this.mayOnlyAdd) return NOTHING;
    const ids = idsOf(await this.addresses.findBetween('', this.oldestTime(now), BATCH));
    if (ids.length === 0) return NOTHING;
    try {
      // An event that the database account may not delete must not get another number.
      await this.events.clearPendingOf(ids);
      await this.deleteEntriesUpTo(ids);
      await this.events.delete(ids);
    } catch (error) {
      if (!isTableDenied(error) && !isColumnDenied(error)) throw error;
      this.mayOnlyAdd = true;
      this.logger.warn(
        'the database user may not delete from the audit log: this process stops trying. ' +
          'Delete expired events as another database user (EVENTS_RETENTION)',
      );
      return NOTHING;
    }
    return { examined: ids.length, deleted: ids.length };
  }

  async deleteAddresses(now: number): Promise<Batch> {
    const before = now - ADDRESS_RETENTION_MS;
    const found = await this.addresses.findBetween(this.withoutAddress, before, MAX_SCANNED);
    const ids = idsOf(found.filter(({ hasAddress }) => hasAddress));
    if (ids.length > 0) await this.addresses.deleteOf(ids);
    this.withoutAddress = found.at(-1)?.id ?? this.withoutAddress;
    return { examined: found.length, deleted: ids.length };
  }

  async deleteEntriesLeft(now: number): Promise<Batch> {
    const expired = firstEntityIdAt(this.oldestTime(now));
    const oldest = await this.feed.findFirst(BATCH);
    const last = oldest.findLastIndex(({ id, eventId }) => id === null && eventId < expired);
    const left = oldest.slice(0, last + 1).map(({ eventId }) => eventId);
    const deleted = left.length === 0 ? 0 : await this.deleteEntriesUpTo(left);
    return { examined: left.length, deleted };
  }

  /** For a restored database, which lacks events that services have seen. All cursors become invalid. */
  async resetFeed(): Promise<number> {
    await this.events.clearAllPending();
    return this.deleteEntries((limit) => this.feed.findOldest(limit));
  }

  /** Also deletes all older entries, because a service with an event missing in between gets `cursor_expired`. */
  private async deleteEntriesUpTo(eventIds: readonly string[]): Promise<number> {
    const last = await this.feed.findLastOf(eventIds);
    return last === undefined ? 0 : this.deleteEntries((limit) => this.feed.findUpTo(last, limit));
  }

  private async deleteEntries(find: (limit: number) => Promise<number[]>): Promise<number> {
    for (let deleted = 0; ;) {
      const seqs = await find(MAX_ROWS_AT_ONCE);
      if (seqs.length > 0) await this.feed.delete(seqs);
      deleted += seqs.length;
      if (seqs.length < MAX_ROWS_AT_ONCE) return deleted;
      await yieldToEventLoop();
    }
  }

  private oldestTime(now: number): number {
    return now - this.env.eventsRetention * 1000;
  }
}
