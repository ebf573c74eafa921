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
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.enable(transaction, userId))) return false;
      await this.events.record(
        transaction,
        await this.accountEvent(transaction, 'account.enabled', userId, actor),
      );
      return true;
    });
  }

  verifyEmail(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.verifyEmail(transaction, userId))) return false;
      await this.events.record(
        transaction,
        await this.accountEvent(transaction, 'account.email_verified', userId, actor),
      );
      return true;
    });
  }

  endSessions(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.endSessions(transaction, userId))) return false;
      await this.events.record(transaction, allSessionsEnded(userId, actor, 'operator'));
      return true;
    });
  }

  /** @param hash made outside: a transaction may run more than once */
  setPasswordHash(userId: string, hash: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.setPasswordHash(transaction, userId, hash))) return false;
      await this.events.record(
        transaction,
        await this.accountEvent(transaction, 'account.password_changed', userId, actor),
        allSessionsEnded(userId, actor, 'password_changed'),
      );
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
