import { Injectable } from '@nestjs/common';
import type { EventType, EventWithout, NewEvent } from '../events/event-types.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { EventsRepository } from '../events/events.repository.js';
import { requireUnprotected } from './operator-protection.js';
import { UserChangesRepository } from './user-changes.repository.js';

type Ended = Extract<NewEvent<'session.ended'>, { data: { all: true } }>;

/** How all sessions of a user end. */
interface EndOfAll {
  reason: Ended['data']['reason'];
  /** the one session that continues */
  except?: string | undefined;
}

/** @param epoch the new one of the user */
export function allSessionsEnded(
  { actor, userId }: Pick<Ended, 'actor' | 'userId'>,
  { reason, except }: EndOfAll,
  epoch: number,
): Ended {
  const data = { reason, all: true, ...(except !== undefined && { except }), epoch } as const;
  return { type: 'session.ended', actor, userId, data };
}

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
  record(transaction: Transaction, event: UserEvent, ...others: NewEvent[]): Promise<void> {
    return this.recordWith(transaction, event, () => others);
  }

  /**
   * Records a change that ended every session, with the epoch that it began.
   * @throws OperatorProtectedError
   */
  recordWithEnd(
    transaction: Transaction,
    event: UserEvent,
    end: EndOfAll,
    ...others: NewEvent[]
  ): Promise<void> {
    return this.recordWith(transaction, event, (epoch) => [allSessionsEnded(event, end, epoch), ...others]);
  }

  private async recordWith(
    transaction: Transaction,
    event: UserEvent,
    othersIn: (epoch: number) => NewEvent[],
  ): Promise<void> {
    const state = await this.users.stateOf(transaction, event.userId);
    requireUnprotected(event.actor, state.operatorSince);
    await this.events.record(
      transaction,
      { ...event, userRevision: state.revision },
      ...othersIn(state.authEpoch),
    );
  }
}
