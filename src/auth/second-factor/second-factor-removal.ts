import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../../access/actor.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { Mails } from '../../mail/mails.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { UserEvents } from '../../users/user-events.js';
import type { CodeHolder } from './guess-limit.js';
import { SecondFactorRows } from './second-factor-rows.js';

interface Removed {
  user: CodeHolder;
  actor: Actor;
  /** the one session that goes on */
  except?: string;
}

@Injectable()
export class SecondFactorRemoval {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly rows: SecondFactorRows,
    private readonly events: UserEvents,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
  ) {}

  /** Ends every session, and mails a notice. Returns false if the user has no second factor. @throws OperatorProtectedError */
  byOperator(user: CodeHolder, actor: Actor): Promise<boolean> {
    return this.transactions.run(
      async (transaction) => {
        if (!(await this.users.removeSecondFactor(transaction, user.id))) return false;
        await this.complete(transaction, { user, actor });
        return true;
      },
      { principal: principalOf(actor), row: user.id },
    );
  }

  /** The transaction must have changed the user's row. */
  async complete(transaction: Transaction, { user, actor, except }: Removed): Promise<void> {
    const { id: userId, email } = user;
    await this.rows.deleteOf(transaction, userId);
    await this.events.recordWithEnd(
      transaction,
      { type: 'account.second_factor_removed', actor, userId },
      { reason: 'second_factor_removed', except },
    );
    await this.mails.notify(transaction, {
      kind: 'second_factor_removed',
      recipient: email,
      senderId: userId,
    });
  }
}
