import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { principalOf } from '../access/principal.js';
import { Transactions } from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import { RefusedError } from '../problems/problem.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { UserEvents } from '../users/user-events.js';
import type { EmailCode } from '../auth/email-codes/email-code.entity.js';
import type { EmailCodes } from '../auth/email-codes/email-codes.js';

/** Issues codes that an operator tells the user. A person who has one can take the account over. */
@Injectable()
export class HandedOutResetCodes {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly mails: Mails,
    private readonly events: UserEvents,
    private readonly transactions: Transactions,
  ) {}

  /** Tells the user by mail, too, where one can be sent. @throws RefusedError, OperatorProtectedError */
  issue(codes: EmailCodes, id: string, actor: Actor): Promise<EmailCode> {
    return this.transactions.run({ principal: principalOf(actor), row: id }, async (transaction) => {
      if (!(await this.users.lockEnabled(transaction, id))) {
        throw new RefusedError('the account is disabled', 'account_disabled');
      }
      const { email } = await this.emails.emailOf(transaction, id);
      const { authEpoch } = await this.users.stateOf(transaction, id);
      // An emailed code has another purpose, since anybody can request one: it must not void this one.
      const code = { purpose: 'handed_out_reset', subject: email, email, authEpoch, userId: id } as const;
      const issued = await codes.issue(transaction, code);
      await this.events.record(transaction, { type: 'account.reset_code_issued', actor, userId: id });
      const notice = { kind: 'reset_code_issued', recipient: email, senderId: id } as const;
      await this.mails.notify(transaction, notice);
      return issued;
    });
  }
}
