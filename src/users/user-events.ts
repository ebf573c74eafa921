import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { EventsRepository } from '../record/events.repository.js';
import type { EventType } from '../record/event-types.js';
import type { EventWithout, NewEvent } from '../record/new-event.js';
import { requireUnprotected } from './operator-protection.js';
import { UserChangesRepository } from './user-changes.repository.js';

type UserEvent = EventWithout<'userRevision', EventType & `account.${string}`>;

/**
 * Records changes of users, which their own revision orders. No operator over HTTP gets one of an operator's account
 * recorded, and so none is made, also where the account became one a moment ago.
 */
@Injectable()
export class UserEvents {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly events: EventsRepository,
  ) {}

  /** @throws OperatorProtectedError */
  async record(transaction: Transaction, event: UserEvent, ...others: NewEvent[]): Promise<void> {
    const { revision: userRevision, operatorSince } = await this.users.stateOf(transaction, event.userId);
    requireUnprotected(event.actor, operatorSince);
    await this.events.record(transaction, { ...event, userRevision }, ...others);
  }
}
