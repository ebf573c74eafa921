import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { Mails } from '../mail/mails.js';
import { UserEvents } from '../users/user-events.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';

interface ChangedUser {
  id: string;
  email: string;
}

@Injectable()
export class PasswordChanges {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly codes: EmailCodesRepository,
    private readonly events: UserEvents,
    private readonly mails: Mails,
  ) {}

  /** Ends every session, voids the codes mailed before, and emails a notice. Returns false when there is no such user. */
  async set(transaction: Transaction, user: ChangedUser, hash: string, actor: Actor): Promise<boolean> {
    if (!(await this.users.setPassword(transaction, user.id, hash))) return false;
    await this.complete(transaction, user, actor);
    return true;
  }

  /** Requires that the transaction has set the password. */
  async complete(transaction: Transaction, { id: userId, email }: ChangedUser, actor: Actor): Promise<void> {
    await this.codes.voidAll(transaction, { id: userId, email });
    await this.events.recordWithEnd(
      transaction,
      { type: 'account.password_changed', actor, userId },
      { reason: 'password_changed' },
    );
    await this.mails.notify(transaction, { kind: 'password_changed', recipient: email, senderId: userId });
  }
}
