import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { principalOf } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { Transactions } from '../database/transactions/transactions.js';
import { RefusedError } from '../problems/problem.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { UserEvents } from '../users/user-events.js';

export interface Grant {
  actor: Actor;
  /** allows an account without a second factor */
  force: boolean;
}

class NoSecondFactorError extends RefusedError {
  constructor() {
    super(
      'the account has no second factor, and a person who has its password could enroll one first: let its user enable one (second_factor_required)',
    );
  }
}

/** Makes users operators. Each change returns false if there was nothing to change. */
@Injectable()
export class OperatorGrants {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly codes: EmailCodesRepository,
    private readonly events: UserEvents,
    private readonly transactions: Transactions,
  ) {}

  /** Voids a code for a new password, which another operator may have had issued. @throws RefusedError */
  grant(userId: string, { actor, force }: Grant): Promise<boolean> {
    return this.transactions.run({ principal: principalOf(actor), row: userId }, async (transaction) => {
      if (!(await this.users.lockEnabled(transaction, userId))) {
        throw new RefusedError('the account is disabled', 'account_disabled');
      }
      const { operatorSince, secondFactorAt } = await this.users.stateOf(transaction, userId);
      if (operatorSince !== null) return false;
      if (secondFactorAt === null && !force) throw new NoSecondFactorError();
      await this.users.grantOperator(transaction, userId);
      const { email } = await this.emails.emailOf(transaction, userId);
      await this.codes.voidResets(transaction, email);
      await this.events.record(transaction, {
        type: 'account.operator_granted',
        actor,
        userId,
        ...(secondFactorAt === null && { data: { force: true } }),
      });
      return true;
    });
  }

  /** Ends no session: the next request finds the account without its routes. */
  revoke(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run({ principal: principalOf(actor), row: userId }, async (transaction) => {
      if (!(await this.users.revokeOperator(transaction, userId))) return false;
      await this.events.record(transaction, { type: 'account.operator_revoked', actor, userId });
      return true;
    });
  }
}
