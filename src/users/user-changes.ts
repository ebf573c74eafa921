import { Injectable } from '@nestjs/common';
import { type Actor, isSignedInOperator, principalOf } from '../access/principal.js';
import {
  type ChangeOutcome,
  doneUnlessUnchanged,
  Gone,
  type Transaction,
  Transactions,
  type Unchanged,
} from '../database/transactions/transactions.js';
import type { EventType, EventWithout, NewEvent } from '../events/event-types.js';
import { EventsRepository } from '../events/events.repository.js';
import type { AnyWrite } from '../requests/write.js';
import { Problem } from '../problems/problem.js';
import { type UserState, UserUpdatesRepository } from './users.updates.js';

type AllSessionsEnded = Extract<NewEvent<'session.ended'>, { data: { all: true } }>;

interface EndOfAll {
  reason: AllSessionsEnded['data']['reason'];
  except?: string | undefined;
}

export function allSessionsEnded(
  { actor, userId }: Pick<AllSessionsEnded, 'actor' | 'userId'>,
  { reason, except }: EndOfAll,
  epoch: number,
): AllSessionsEnded {
  const data = { reason, all: true, ...(except !== undefined && { except }), epoch } as const;
  return { type: 'session.ended', actor, userId, data };
}

/** Over HTTP, no operator may take over the account of another operator. */
export function requireUnprotected(actor: Actor, { operatorSince }: Pick<UserState, 'operatorSince'>): void {
  if (operatorSince !== null && isSignedInOperator(actor)) throw new Problem('operator_protected');
}

type UserEvent = EventWithout<
  'actor' | 'userId' | 'userRevision',
  EventType & `${'account' | 'key'}.${string}`
>;

export interface LockedUser extends UserState {
  record: (event: UserEvent, ...others: NewEvent[]) => Promise<void>;
  recordWithEnd: (event: UserEvent, end: EndOfAll, ...others: NewEvent[]) => Promise<void>;
}

/** The only way to lock users. */
@Injectable()
export class UserChanges {
  constructor(
    private readonly users: UserUpdatesRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** The lock is a write: only writes conflict on a cluster. `work` may run again. */
  inUser<Answer, Same = undefined>(
    { actor }: AnyWrite,
    userId: string,
    work: (tx: Transaction, user: LockedUser) => Promise<Answer | Unchanged<Same>>,
  ): Promise<ChangeOutcome<Answer, Same>> {
    return this.transactions.run({ principal: principalOf(actor), row: userId }, async (tx) => {
      const user = await this.raise(tx, actor, userId);
      return user ? doneUnlessUnchanged(await work(tx, user)) : new Gone();
    });
  }

  /** Returns `gone` if there is none of these users. */
  inUsers<Answer>(
    { actor }: AnyWrite,
    userIds: readonly string[],
    work: (tx: Transaction, users: UserState[]) => Promise<Answer>,
  ): Promise<ChangeOutcome<Answer>> {
    return this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      await this.users.raiseRevisions(tx, userIds);
      const users = await this.users.findStates(tx, userIds);
      for (const user of users) requireUnprotected(actor, user);
      if (users.length === 0) return new Gone();
      return { kind: 'done', answer: await work(tx, users) };
    });
  }

  /** For transactions that lock organizations first. @throws operator_protected */
  async raise(tx: Transaction, actor: Actor, userId: string): Promise<LockedUser | undefined> {
    await this.users.raiseRevisions(tx, [userId]);
    const [state] = await this.users.findStates(tx, [userId]);
    if (!state) return undefined;
    requireUnprotected(actor, state);
    const about = { actor, userId };
    // The work may have raised the revision again, and the epoch.
    const recordIn = async (event: UserEvent, othersIn: (epoch: number) => NewEvent[]): Promise<void> => {
      const { revision: userRevision, authEpoch } = await this.users.stateOf(tx, userId);
      const whole = Object.assign(event, { ...about, userRevision });
      await this.events.record(tx, whole, ...othersIn(authEpoch));
    };
    return {
      ...state,
      record: (event, ...others) => recordIn(event, () => others),
      recordWithEnd: (event, end, ...others) =>
        recordIn(event, (epoch) => [allSessionsEnded(about, end, epoch), ...others]),
    };
  }
}
