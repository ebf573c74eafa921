import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { EventsRepository } from '../record/events.repository.js';
import type { NewEvent } from '../record/new-event.js';
import { AccountRepository } from './account.repository.js';

type AccountEvent = Pick<NewEvent, 'actor' | 'data'> & {
  type: NewEvent['type'] & `account.${string}`;
  userId: string;
};

/** Records changes of accounts, which their own revision orders. */
@Injectable()
export class AccountEvents {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly events: EventsRepository,
  ) {}

  async record(transaction: Transaction, event: AccountEvent, ...others: NewEvent[]): Promise<void> {
    const userRevision = await this.accounts.revisionOf(transaction, event.userId);
    await this.events.record(transaction, { ...event, userRevision }, ...others);
  }
}
