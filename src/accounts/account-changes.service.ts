import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
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
      await this.recordAccount(transaction, 'account.enabled', userId, actor);
      return true;
    });
  }

  verifyEmail(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.verifyEmail(transaction, userId))) return false;
      await this.recordAccount(transaction, 'account.email_verified', userId, actor);
      return true;
    });
  }

  endSessions(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.endSessions(transaction, userId))) return false;
      await this.recordSessions(transaction, 'operator', userId, actor);
      return true;
    });
  }

  /** @param hash made outside: a transaction may run more than once */
  setPasswordHash(userId: string, hash: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.setPasswordHash(transaction, userId, hash))) return false;
      await this.recordAccount(transaction, 'account.password_changed', userId, actor);
      await this.recordSessions(transaction, 'password_changed', userId, actor);
      return true;
    });
  }

  private async recordAccount(
    transaction: Transaction,
    type: 'account.enabled' | 'account.email_verified' | 'account.password_changed',
    userId: string,
    actor: Actor,
  ): Promise<void> {
    const userRevision = await this.accounts.revisionOf(transaction, userId);
    await this.events.record(transaction, { type, actor, userId, userRevision });
  }

  /** All of them at once are one row. */
  private recordSessions(
    transaction: Transaction,
    reason: 'operator' | 'password_changed',
    userId: string,
    actor: Actor,
  ): Promise<void> {
    return this.events.record(transaction, {
      type: 'session.ended',
      actor,
      userId,
      data: { reason, all: true },
    });
  }
}
