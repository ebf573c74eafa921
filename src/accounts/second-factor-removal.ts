import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../access/principal.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { Transactions } from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { UserEvents } from '../users/user-events.js';
import { SecondFactorRows } from '../auth/second-factor/second-factors.repository.js';
import type { CodeHolder } from '../auth/second-factor/second-factor-verification.js';

interface Removed {
  user: CodeHolder;
  actor: Actor;
  /** the session that continues */
  except?: string;
}

export type Removal = { kind: 'removed'; wasOperator: boolean } | { kind: 'unchanged' };

const REMOVED = 'account.second_factor_removed';

@Injectable()
export class SecondFactorRemoval {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly rows: SecondFactorRows,
    private readonly events: UserEvents,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
  ) {}

  /** Ends every session. @throws OperatorProtectedError */
  byOperator(user: CodeHolder, actor: Actor): Promise<Removal> {
    return this.transactions.run({ principal: principalOf(actor), row: user.id }, async (transaction) => {
      if (!(await this.users.removeSecondFactor(transaction, user.id))) return { kind: 'unchanged' };
      return { kind: 'removed', wasOperator: await this.complete(transaction, { user, actor }) };
    });
  }

  /** For a password reset, which then ends every session and records it. */
  async byMailbox(transaction: Transaction, user: CodeHolder, actor: Actor): Promise<void> {
    if (!(await this.users.removeSecondFactor(transaction, user.id))) return;
    await this.events.record(transaction, { type: REMOVED, actor, userId: user.id });
    await this.deleteRest(transaction, user, actor);
  }

  /** The transaction must have changed the user's row. Returns whether the user was an operator. */
  async complete(transaction: Transaction, { user, actor, except }: Removed): Promise<boolean> {
    // This rejects an operator who acts on another operator over HTTP, so it precedes the revocation of the grant.
    await this.events.recordWithEnd(
      transaction,
      { type: REMOVED, actor, userId: user.id },
      { reason: 'second_factor_removed', except },
    );
    return this.deleteRest(transaction, user, actor);
  }

  private async deleteRest(
    transaction: Transaction,
    { id: userId, email }: CodeHolder,
    actor: Actor,
  ): Promise<boolean> {
    // Otherwise an attacker who knows the password could enroll a factor and act as an operator.
    const wasOperator = await this.users.revokeOperator(transaction, userId);
    if (wasOperator)
      await this.events.record(transaction, { type: 'account.operator_revoked', actor, userId });
    await this.rows.delete(transaction, userId);
    const notice = { kind: 'second_factor_removed', recipient: email, senderId: userId } as const;
    await this.mails.notify(transaction, notice);
    return wasOperator;
  }
}
