import { Injectable, Logger } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { isTableDenied } from '../../database/database-errors.js';
import { EventAddressesRepository } from '../../events/event-addresses.repository.js';
import { EventsRepository } from '../../events/events.repository.js';
import { BATCH, type Batch } from './batch.js';

/** the longest that the record keeps whence somebody acted */
const ADDRESS_RETENTION_MS = 90 * 86_400_000;
/** More than a batch: a new process looks through everything once, and mostly finds nothing. */
const MAX_SCANNED = 500;
const NOTHING: Batch = { examined: 0, deleted: 0 };

/** What the record does not keep any longer. */
@Injectable()
export class ExpiredEvents {
  /** What is before holds no address any more: every process looks through all of it once. */
  private withoutAddress = '';
  private mayOnlyAdd = false;
  private readonly logger = new Logger('Cleanup');

  constructor(
    private readonly events: EventsRepository,
    private readonly addresses: EventAddressesRepository,
    private readonly env: Env,
  ) {}

  async deleteBatch(now: number): Promise<Batch> {
    if (this.mayOnlyAdd) return NOTHING;
    const ids = await this.events.findIdsBefore(now - this.env.eventsRetention * 1000, BATCH);
    try {
      if (ids.length > 0) await this.events.delete(ids);
    } catch (error) {
      if (!isTableDenied(error)) throw error;
      this.mayOnlyAdd = true;
      this.logger.warn(
        'the database account may not delete from the record of changes: this process leaves it alone, ' +
          'and EVENTS_RETENTION is left to whoever may',
      );
      return NOTHING;
    }
    return { examined: ids.length, deleted: ids.length };
  }

  async deleteAddresses(now: number): Promise<Batch> {
    const found = await this.addresses.findBetween(
      this.withoutAddress,
      now - ADDRESS_RETENTION_MS,
      MAX_SCANNED,
    );
    const ids = found.filter(({ hasAddress }) => hasAddress).map(({ id }) => id);
    if (ids.length > 0) await this.addresses.delete(ids);
    this.withoutAddress = found.at(-1)?.id ?? this.withoutAddress;
    return { examined: found.length, deleted: ids.length };
  }
}
