import { Injectable } from '@nestjs/common';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { Mails } from '../../mail/mails.js';
import { RateLimitedError } from '../../rate-limits/rate-limits.errors.js';
import type { AttemptScope } from './failed-attempts.entity.js';
import {
  type Attempt,
  ATTEMPT_WINDOW_MS,
  FailedAttemptsRepository,
  isFull,
} from './failed-attempts.repository.js';
import { InvalidSecondFactorCodeError, TOO_MANY_WRONG_CODES } from './second-factor.errors.js';
import type { Refused } from './second-step-outcome.js';

/** Whose code it is; the email gets the notices. */
export interface CodeHolder {
  id: string;
  email: string;
}

/** Bounds how often six digits can be guessed, over all instances, addresses and challenges. */
@Injectable()
export class GuessLimit {
  constructor(
    private readonly attempts: FailedAttemptsRepository,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Compares a code of a user who is signed in while no other instance compares one, and counts it if it is wrong. It commits
   * before it returns, so that a dry run counts, too. A right code leaves the count as it is: the change may be refused yet.
   * @param compare returns undefined for a wrong code
   * @throws InvalidSecondFactorCodeError, RateLimitedError
   */
  async try<T>(holder: CodeHolder, compare: () => T | undefined): Promise<T> {
    const attempt = { userId: holder.id, scope: 'signed-in' } as const;
    // This locks nothing: a flood of guesses costs little.
    if (isFull(await this.attempts.find(attempt))) return this.refuse(holder, attempt.scope);
    const tried = await this.inTurn(attempt, compare);
    if (tried === 'not compared') return this.refuse(holder, attempt.scope);
    if (tried.right !== undefined) return tried.right;
    await this.noteFailed(holder, attempt.scope);
    throw new InvalidSecondFactorCodeError();
  }

  /** Answers a login by six digits once it has committed. @throws InvalidSecondFactorCodeError, RateLimitedError */
  async refuseLogin(holder: CodeHolder, refused: Refused): Promise<never> {
    if (refused === 'not compared') return this.refuse(holder, 'login');
    await this.noteFailed(holder, 'login');
    throw new InvalidSecondFactorCodeError(holder.id);
  }

  /** @throws RateLimitedError */
  async refuse(holder: CodeHolder, scope: AttemptScope): Promise<never> {
    const attempt = { userId: holder.id, scope };
    await this.noteFailed(holder, scope);
    const { since } = (await this.attempts.find(attempt)) ?? { since: Date.now() };
    const waitMs = since + ATTEMPT_WINDOW_MS - Date.now();
    throw new RateLimitedError(TOO_MANY_WRONG_CODES, Math.max(1, Math.ceil(waitMs / 1000)), {
      limit: 'second-factor',
      userId: holder.id,
    });
  }

  /** Emails a notice once nothing is left to guess: the sender of the codes knows the password, or has a session. */
  async noteFailed(holder: CodeHolder, scope: AttemptScope): Promise<void> {
    const attempt = { userId: holder.id, scope };
    const failed = await this.attempts.find(attempt);
    if (!isFull(failed) || failed?.notified === 1) return;
    await this.transactions.run(
      async (transaction) => {
        if (!(await this.attempts.claimNotice(transaction, attempt))) return;
        const notice = {
          kind: 'second_factor_guessed',
          recipient: holder.email,
          senderId: holder.id,
        } as const;
        await this.mails.notify(transaction, notice);
      },
      { principal: holder.id },
    );
  }

  clear(
    transaction: Transaction,
    { id: userId }: Pick<CodeHolder, 'id'>,
    scope: AttemptScope,
  ): Promise<void> {
    return this.attempts.clear(transaction, [userId], scope);
  }

  private async inTurn<T>(
    attempt: Attempt,
    compare: () => T | undefined,
  ): Promise<{ right: T | undefined } | 'not compared'> {
    const { userId, scope } = attempt;
    try {
      return await this.transactions.run(
        async (transaction) => {
          if (isFull(await this.attempts.lock(transaction, attempt))) return 'not compared';
          const right = compare();
          if (right === undefined) await this.attempts.countLocked(transaction, [userId], scope);
          else await this.attempts.touch(transaction, attempt);
          return { right };
        },
        { principal: userId, row: userId },
      );
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidSecondFactorCodeError() : error;
    }
  }
}
