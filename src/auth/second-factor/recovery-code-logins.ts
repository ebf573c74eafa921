import { Injectable } from '@nestjs/common';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { type Login, SessionOpening } from '../sessions/session-opening.service.js';
import { InvalidChallengeError } from './challenge.errors.js';
import { isChallengeOf, type LoginChallenge } from './login-challenges.js';
import { InvalidSecondFactorCodeError } from './second-factor.errors.js';
import { SecondFactorVerification } from './second-factor-verification.js';
import { SecondFactorsRepository } from './second-factors.repository.js';
import type { SecondStepOutcome } from './second-step-outcome.js';

interface RecoveryCodeLogin {
  challenge: LoginChallenge;
  login: Omit<Login, 'user'>;
  /** of the code; undefined where what was typed can be none */
  hash: string | undefined;
}

/** Nobody can guess a recovery code, so none is counted, and none refused for the guesses of others. */
@Injectable()
export class RecoveryCodeLogins {
  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly verification: SecondFactorVerification,
    private readonly sessions: SessionOpening,
    private readonly transactions: Transactions,
  ) {}

  async logIn(recovery: RecoveryCodeLogin): Promise<SecondStepOutcome> {
    const { userId } = recovery.challenge;
    const turn = { principal: userId, row: userId };
    try {
      return await this.transactions.run((transaction) => this.logInBy(transaction, recovery), turn);
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidChallengeError('account_changed') : error;
    }
  }

  private async logInBy(
    transaction: Transaction,
    { challenge, login, hash }: RecoveryCodeLogin,
  ): Promise<SecondStepOutcome> {
    const [user] = await this.factors.findWithUsers(transaction, [challenge.userId]);
    if (!user || !isChallengeOf(challenge, user)) throw new InvalidChallengeError('account_changed');
    if (hash === undefined) throw new InvalidSecondFactorCodeError();
    const shown = { kind: 'recovery', hash, holder: user, scope: 'login' } as const;
    const [used] = await this.verification.use(transaction, shown);
    const { session } = await this.sessions.open(transaction, { ...login, user }, used);
    return { user, opened: session };
  }
}
