import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { MailCode } from '../auth/mail-codes/mail-code.entity.js';
import type { MailCodes } from '../auth/mail-codes/mail-codes.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../record/events.repository.js';
import { UserEvents } from '../users/user-events.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { RefusedError } from '../problems/refused.error.js';
import { PasswordChanges } from '../auth/passwords/password-changes.js';

/** Each change records its event, and returns false when there was nothing to change. */
@Injectable()
export class AccountChangesService {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly passwords: PasswordChanges,
    private readonly userEvents: UserEvents,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  enable(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.users.enable(transaction, userId))) return false;
      await this.userEvents.record(transaction, { type: 'account.enabled', actor, userId });
      return true;
    });
  }

  verifyEmail(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.emails.verifyEmail(transaction, userId))) return false;
      await this.userEvents.record(transaction, { type: 'account.email_verified', actor, userId });
      return true;
    });
  }

  endSessions(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (transaction) => {
      if (!(await this.users.endSessions(transaction, userId))) return false;
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
      if (!(await this.users.lockEnabled(transaction, id))) {
        throw new RefusedError('the account is disabled (account_disabled)');
      }
      const purpose = 'password_reset';
      const issued = await codes.issue(transaction, { purpose, subject: email, email, handedOut: true });
      await this.userEvents.record(transaction, { type: 'account.reset_code_issued', actor, userId: id });
      return issued;
    });
  }

  /** @param hash made outside, because a transaction may run more than once */
  setPasswordHash(user: { id: string; email: string }, hash: string, actor: Actor): Promise<boolean> {
    return this.transactions.run((transaction) => this.passwords.set(transaction, user, hash, actor));
  }
}
