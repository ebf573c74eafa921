import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { principalOf } from '../access/principal.js';
import { Env } from '../config/env.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { Transactions } from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import { RefusedError } from '../problems/problem.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { UserEvents } from '../users/user-events.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';

export interface EmailReplacement {
  email: string;
  /** whether the operator knows that the email is the user's own */
  isVerified: boolean;
  actor: Actor;
}

/** Changes and verifies emails without a code: the operator who asks for it vouches for the user. */
@Injectable()
export class VouchedEmails {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly codes: EmailCodesRepository,
    private readonly mails: Mails,
    private readonly events: UserEvents,
    private readonly members: MembersRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** Returns false if the email was verified before. */
  verify(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run({ principal: principalOf(actor), row: userId }, async (transaction) => {
      if (!(await this.emails.verifyEmail(transaction, userId))) return false;
      await this.events.record(transaction, { type: 'account.email_verified', actor, userId });
      return true;
    });
  }

  /**
   * Keeps the sessions. Returns false if the user has this email already.
   * @throws EmailTakenError, RefusedError
   */
  async replace(user: { id: string; email: string }, replacement: EmailReplacement): Promise<boolean> {
    const { email, isVerified, actor } = replacement;
    if (email === user.email) return false;
    await this.transactions.run({ principal: principalOf(actor), row: user.id }, async (transaction) => {
      const notice = { kind: 'email_changed', recipient: user.email, senderId: user.id } as const;
      await this.mails.notify(transaction, notice);
      if (!(await this.emails.replaceEmail(transaction, user, email, isVerified))) {
        throw new LostConflictError(undefined);
      }
      if (!isVerified) await this.requireNoSecondFactor(transaction, user.id);
      await this.members.updateEmail(transaction, user.id, email);
      // These codes may be on their way to either address.
      await this.codes.voidAll(transaction, user);
      await this.codes.voidResets(transaction, email);
      const data = { verified: isVerified };
      await this.events.record(transaction, {
        type: 'account.email_changed',
        actor,
        userId: user.id,
        data,
      });
    });
    return true;
  }

  /** The first password reset at an unverified email removes the second factor, and here that is the user's own. */
  private async requireNoSecondFactor(transaction: Transaction, userId: string): Promise<void> {
    if (!this.env.smtp || (await this.users.stateOf(transaction, userId)).secondFactorAt === null) return;
    throw new RefusedError(
      'the account has a second factor, which needs a verified email: use --verified if the email is the user’s own',
      'verified_email_required',
    );
  }
}
