import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import type { NewEvent } from '../events/new-event.js';
import { AccountRepository } from '../users/account.repository.js';

/** Changes of one account, each with its event; false when there was nothing to change. */
@Injectable()
export class AccountChangesService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  enable(userId: string, actor: Actor): Promise<boolean> {
    return this.change(
      async (transaction) => this.accounts.enable(transaction, userId),
      async (transaction) => [await this.accountEvent(transaction, 'account.enabled', userId, actor)],
    );
  }

  verifyEmail(userId: string, actor: Actor): Promise<boolean> {
    return this.change(
      async (transaction) => this.accounts.verifyEmail(transaction, userId),
      async (transaction) => [await this.accountEvent(transaction, 'account.email_verified', userId, actor)],
    );
  }

  endSessions(userId: string, actor: Actor): Promise<boolean> {
    return this.change(
      async (transaction) => this.accounts.endSessions(transaction, userId),
      async () => [allSessionsEnded(userId, actor, 'operator')],
    );
  }

  /** @param hash made outside: a transaction may run more than once */
  setPasswordHash(userId: string, hash: string, actor: Actor): Promise<boolean> {
    return this.change(
      async (transaction) => this.accounts.setPasswordHash(transaction, userId, hash),
      async (transaction) => [
        await this.accountEvent(transaction, 'account.password_changed', userId, actor),
        allSessionsEnded(userId, actor, 'password_changed'),
      ],
    );
  }

  private change(
    write: (transaction: Transaction) => Promise<boolean>,
    eventsOf: (transaction: Transaction) => Promise<NewEvent[]>,
  ): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await write(transaction))) return false;
      await this.events.record(transaction, ...(await eventsOf(transaction)));
      return true;
    });
  }

  private async accountEvent(
    transaction: Transaction,
    type: 'account.enabled' | 'account.email_verified' | 'account.password_changed',
    userId: string,
    actor: Actor,
  ): Promise<NewEvent> {
    return { type, actor, userId, userRevision: await this.accounts.revisionOf(transaction, userId) };
  }
}

/** All of them at once are one row. */
function allSessionsEnded(userId: string, actor: Actor, reason: 'operator' | 'password_changed'): NewEvent {
  return { type: 'session.ended', actor, userId, data: { reason, all: true } };
}
