import { Injectable } from '@nestjs/common';
import { inBatches, MAX_ROWS_AT_ONCE } from '../database/in-batches.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { ADDRESS_RETENTION_MS } from './events-retention.js';
import { EventsRepository } from './events.repository.js';

const ORGS_AT_ONCE = 20;
const EVENTS_AT_ONCE = 5000;

/** Deletes the IP addresses of a deleted user. The audit log keeps their events. */
@Injectable()
export class UserAddresses {
  constructor(private readonly events: EventsRepository) {}

  // Finds events with the address of what the user did to others. No index finds them by who acted, but they are in
  // organizations that have an event about the user, or that the user belongs to.
  async findActs(userId: string, orgIds: readonly string[]): Promise<string[]> {
    const all = new Set([...orgIds, ...(await this.events.findOrgIdsOf(userId))]);
    const found: string[] = [];
    for await (const orgs of inBatches([...all], ORGS_AT_ONCE)) {
      for (const id of await this.events.findActsIn(orgs, userId)) found.push(id);
    }
    return [...found, ...(await this.findActsOfOperator(userId))];
  }

  /** An operator's acts can be about any user, so this reads all events since the grant that can have an address. */
  private async findActsOfOperator(userId: string): Promise<string[]> {
    const grantId = await this.events.findOperatorGrant(userId);
    const oldest = firstEntityIdAt(Date.now() - ADDRESS_RETENTION_MS);
    const found: string[] = [];
    for (let after = grantId && (grantId > oldest ? grantId : oldest); after !== undefined;) {
      const page = await this.events.findActsOfOperator(userId, after, EVENTS_AT_ONCE);
      for (const { id, isAct } of page) if (isAct) found.push(id);
      after = page.length < EVENTS_AT_ONCE ? undefined : page.at(-1)!.id;
    }
    return found;
  }

  /**
   * Deletes the addresses of `acts`, of events about the user, and of what the user did since a time (epoch
   * milliseconds). Keeps an operator's address in an event about the user.
   */
  async delete(
    transaction: Transaction,
    userId: string,
    { acts, since }: { acts: readonly string[]; since: number },
  ): Promise<void> {
    const recent = await this.events.findActsSince(transaction, since, userId);
    for await (const ids of inBatches([...acts, ...recent])) {
      await this.events.deleteAddressesIn(transaction, ids);
    }
    for (let after: string | undefined = ''; after !== undefined;) {
      const ids: string[] = await this.events.findAddressesAbout(transaction, userId, after);
      if (ids.length > 0) await this.events.deleteAddressesIn(transaction, ids);
      after = ids.length < MAX_ROWS_AT_ONCE ? undefined : ids.at(-1)!;
    }
  }
}
