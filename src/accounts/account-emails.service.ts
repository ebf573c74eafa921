import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import { MailCodesRepository } from '../auth/mail-codes/mail-codes.repository.js';
import { LostConflictError } from '../database/lost-conflict.error.js';
import { Transactions } from '../database/transactions.js';
import { Mails } from '../mail/mails.js';
import { MembersRepository } from '../orgs/members/members.repository.js';
import { UserEvents } from '../users/user-events.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';

export interface EmailReplacement {
  email: string;
  /** whether the operator knows that the e-mail is the user's own */
  isVerified: boolean;
  actor: Actor;
}

/** Changes an e-mail without a code: whoever asks for it vouches for the user. */
@Injectable()
export class AccountEmailsService {
  constructor(
    private readonly emails: UserEmailsRepository,
    private readonly members: MembersRepository,
    private readonly codes: MailCodesRepository,
    private readonly mails: Mails,
    private readonly events: UserEvents,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Keeps the sessions, and updates the copies of the e-mail in the memberships.
   * @throws EmailTakenError
   */
  async replace(user: { id: string; email: string }, replacement: EmailReplacement): Promise<boolean> {
    const { email, isVerified, actor } = replacement;
    if (email === user.email) return false;
    await this.transactions.run(async (transaction) => {
      if (!(await this.emails.replaceEmail(transaction, user, email, isVerified))) {
        throw new LostConflictError(undefined);
      }
      await this.members.updateEmail(transaction, user.id, email);
      // These codes may be on their way to either address.
      await this.codes.voidAll(transaction, user);
      await this.codes.void(transaction, { purpose: 'password_reset', subject: email });
      const data = { verified: isVerified };
      await this.events.record(transaction, { type: 'account.email_changed', actor, userId: user.id, data });
      const notice = { kind: 'email_changed', recipient: user.email, senderId: user.id } as const;
      await this.mails.notify(transaction, notice);
    });
    return true;
  }
}
