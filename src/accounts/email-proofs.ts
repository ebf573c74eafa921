import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../access/principal.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { Transactions } from '../database/transactions/transactions.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { UserEvents } from '../users/user-events.js';
import type { EmailCode } from '../auth/email-codes/email-code.entity.js';
import { InvalidEmailCodeError, EmailCodes } from '../auth/email-codes/email-codes.js';

/** Uses an emailed code, which proves that an email is the user's own. */
@Injectable()
export class EmailProofs {
  constructor(
    private readonly codes: EmailCodes,
    private readonly emails: UserEmailsRepository,
    private readonly events: UserEvents,
    private readonly members: MembersRepository,
    private readonly transactions: Transactions,
  ) {}

  /** @throws InvalidEmailCodeError, EmailTakenError */
  async prove(userId: string, typed: string, actor: Actor): Promise<void> {
    const turn = { principal: principalOf(actor), row: userId };
    const proven = await this.transactions.run(turn, async (transaction) => {
      const purposes = ['email_verification', 'email_change'] as const;
      const code = await this.codes.check(transaction, purposes, userId, typed);
      // Returns false, because an error would roll the counted try back.
      if (!code || !(await this.codes.use(transaction, code))) return false;
      return code.purpose === 'email_change'
        ? this.change(transaction, userId, code, actor)
        : this.verify(transaction, userId, code, actor);
    });
    if (!proven) throw new InvalidEmailCodeError();
  }

  private async verify(
    transaction: Transaction,
    userId: string,
    code: EmailCode,
    actor: Actor,
  ): Promise<boolean> {
    const outcome = await this.emails.proveEmail(transaction, userId, code);
    if (outcome !== 'verified') return outcome === 'verified before';
    await this.events.record(transaction, { type: 'account.email_verified', actor, userId });
    return true;
  }

  private async change(
    transaction: Transaction,
    userId: string,
    { email, authEpoch }: EmailCode,
    actor: Actor,
  ): Promise<boolean> {
    const old = await this.emails.lockEmail(transaction, userId);
    if (old === undefined) return false;
    if (!(await this.emails.changeEmail(transaction, userId, { email, authEpoch }))) return false;
    await this.members.updateEmail(transaction, userId, email);
    await this.codes.voidOne(transaction, { purpose: 'email_verification', subject: userId });
    for (const subject of [old, email]) await this.codes.voidResets(transaction, subject);
    await this.events.record(transaction, { type: 'account.email_changed', actor, userId });
    return true;
  }
}
