import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { EventsRepository } from '../record/events.repository.js';
import type { NewEvent } from '../record/new-event.js';
import { UserChangesRepository } from './user-changes.repository.js';

type UserEvent = Pick<NewEvent, 'actor' | 'data'> & {
  type: NewEvent['type'] & `account.${string}`;
  userId: string;
};

/** Records changes of users, which their own revision orders. */
@Injectable()
export class UserEvents {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly events: EventsRepository,
  ) {}

  async record(transaction: Transaction, event: UserEvent, ...others: NewEvent[]): Promise<void> {
    const userRevision = await this.users.revisionOf(transaction, event.userId);
    await this.events.record(transaction, { ...event, userRevision }, ...others);
  }
}
