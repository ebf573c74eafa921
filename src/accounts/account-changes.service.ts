import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { MailCode } from '../auth/mail-codes/mail-code.entity.js';
import type { MailCodes } from '../auth/mail-codes/mail-codes.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../record/events.repository.js';
import { AccountEvents } from '../users/account-events.js';
import { AccountRepository } from '../users/account.repository.js';
import { RefusedError } from '../problems/refused.error.js';
import { PasswordChanges } from '../auth/passwords/password-changes.js';

/** Each change records its event, and returns false when there was nothing to change. */
@Injectable()
export class AccountChangesService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly passwords: PasswordChanges,
    private readonly accountEvents: AccountEvents,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  enable(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.enable(transaction, userId))) return false;
      await this.accountEvents.record(transaction, { type: 'account.enabled', actor, userId });
      return true;
    });
  }

  verifyEmail(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.verifyEmail(transaction, userId))) return false;
      await this.accountEvents.record(transaction, { type: 'account.email_verified', actor, userId });
      return true;
    });
  }

  endSessions(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.endSessions(transaction, userId))) return false;
      const data = { reason: 'operator', all: true };
      await this.events.record(transaction, { type: 'session.ended', actor, userId, data });
      return true;
    });
  }

  /** Issues a code that an operator tells the user: whoever has it takes the account over. */
  issueResetCode(
    codes: MailCodes,
    { id, email }: { id: string; email: string },
    actor: Actor,
  ): Promise<MailCode> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.accounts.lockEnabled(transaction, id))) {
        throw new RefusedError('the account is disabled (account_disabled)');
      }
      const purpose = 'password_reset';
      const issued = await codes.issue(transaction, { purpose, subject: email, email, handedOut: true });
      await this.accountEvents.record(transaction, { type: 'account.reset_code_issued', actor, userId: id });
      return issued;
    });
  }

  /** @param hash made outside, because a transaction may run more than once */
  setPasswordHash(user: { id: string; email: string }, hash: string, actor: Actor): Promise<boolean> {
    return this.transactions.run((transaction) => this.passwords.set(transaction, user, hash, actor));
  }
}
