import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Env } from '../config/env.js';
import { isColumnDenied, isTableDenied } from '../database/database-errors.js';
import { ADDRESS_RETENTION_MS, EventAddressesRepository } from './event-addresses.repository.js';
import { EventDeletions } from './event-deletions.js';
import { EventsRepository } from './events.repository.js';
import { BATCH, type Batch } from '../jobs/batch.js';
import { CleanUpJobs } from '../jobs/clean-up-jobs.js';

/** A scan takes more than a batch: a new process scans all events once, and mostly finds nothing. */
const MAX_SCANNED = 500;
const NOTHING: Batch = { examined: 0, deleted: 0 };

@Injectable()
export class ExpiredEvents implements OnModuleInit {
  /** No event up to this id holds an address any more; every process scans all of them once. */
  private withoutAddress = '';
  private mayOnlyAdd = false;
  private readonly logger = new Logger('Cleanup');

  constructor(
    private readonly events: EventsRepository,
    private readonly addresses: EventAddressesRepository,
    private readonly deletions: EventDeletions,
    private readonly env: Env,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.deleteBatch(now));
    this.jobs.add((now) => this.deleteAddresses(now));
  }

  async deleteBatch(now: number): Promise<Batch> {
    if (this.mayOnlyAdd) return NOTHING;
    const ids = await this.events.findIdsBefore(now - this.env.eventsRetention * 1000, BATCH);
    try {
      if (ids.length > 0) {
        await this.deletions.prepare(ids);
        await this.events.delete(ids);
      }
    } catch (error) {
      if (!isTableDenied(error) && !isColumnDenied(error)) throw error;
      this.mayOnlyAdd = true;
      this.logger.warn(
        'the database account may not delete from the record of changes: this process stops trying, ' +
          'and expired events have to be deleted with another account (EVENTS_RETENTION)',
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
