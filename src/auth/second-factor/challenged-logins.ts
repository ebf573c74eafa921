import { Injectable } from '@nestjs/common';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { InvalidChallengeError } from './challenge.errors.js';
import { isChallengeOf, type LoginChallenge } from './login-challenges.js';
import { type FactorOfUser, SecondFactorsRepository } from './second-factors.repository.js';

@Injectable()
export class ChallengedLogins {
  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** Logs the user of the challenge in by a transaction of their own. @throws InvalidChallengeError if it is void by now */
  async run<T>(
    challenge: LoginChallenge,
    work: (transaction: Transaction, user: FactorOfUser) => Promise<T>,
  ): Promise<T> {
    const { userId } = challenge;
    const turn = { principal: userId, row: userId };
    try {
      return await this.transactions.run(async (transaction) => {
        const [user] = await this.factors.findWithUsers(transaction, [userId]);
        if (!user || !isChallengeOf(challenge, user))
          throw new InvalidChallengeError('account_changed', userId);
        return work(transaction, user);
      }, turn);
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidChallengeError('account_changed', userId) : error;
    }
  }
}
