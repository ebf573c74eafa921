import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { RefusedError } from '../problems/problem.js';
import { UserChanges } from '../users/user-changes.js';
import { UserUpdates } from '../users/users.updates.js';

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
    private readonly changes: UserChanges,
    private readonly users: UserUpdates,
    private readonly codes: EmailCodesRepository,
  ) {}

  /** Voids a code for a new password, which another operator may have had issued. @throws RefusedError */
  async grant(userId: string, { actor, force }: Grant): Promise<boolean> {
    const granted = await this.changes.inUser({ actor }, userId, async (transaction, user) => {
      if (user.disabledAt !== null) throw new RefusedError('the account is disabled', 'account_disabled');
      if (user.operatorSince !== null) return undefined;
      const hasSecondFactor = user.secondFactorAt !== null;
      if (!hasSecondFactor && !force) throw new NoSecondFactorError();
      await this.users.setOperator(transaction, userId, Date.now());
      await this.codes.voidResets(transaction, user.email);
      await user.record({
        type: 'account.operator_granted',
        ...(!hasSecondFactor && { data: { force: true } }),
      });
      return true;
    });
    return granted ?? false;
  }

  /** Ends no session: the next request finds the account without its routes. */
  async revoke(userId: string, actor: Actor): Promise<boolean> {
    const revoked = await this.changes.inUser({ actor }, userId, async (transaction, user) => {
      if (user.operatorSince === null) return undefined;
      await this.users.setOperator(transaction, userId, null);
      await user.record({ type: 'account.operator_revoked' });
      return true;
    });
    return revoked ?? false;
  }
}
