import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { Mails } from '../../mail/mails.js';
import { RateLimitedError } from '../../rate-limits/rate-limits.errors.js';
import type { AttemptScope } from './failed-attempts.entity.js';
import {
  ATTEMPT_WINDOW_MS,
  FailedAttemptsRepository,
  MAX_FAILED_ATTEMPTS,
} from './failed-attempts.repository.js';
import { InvalidSecondFactorCodeError, TOO_MANY_WRONG_CODES } from './second-factor.errors.js';
import type { Refused } from './second-step-outcome.js';

/** Whose code it is; the e-mail gets the notices. */
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

  /** Counts an attempt of a user who is signed in before it is made, so that concurrent ones count. @throws RateLimitedError */
  async count(holder: CodeHolder): Promise<void> {
    const scope = 'signed-in';
    if (!(await this.attempts.count({ userId: holder.id, scope }))) await this.refuse(holder, scope);
  }

  /** Takes back what `count` counted, where the code is right: a dry run and a refused change do not clear the count. */
  takeBack({ id: userId }: CodeHolder): Promise<void> {
    return this.attempts.takeBack({ userId, scope: 'signed-in' });
  }

  /** Answers a login by six digits once it has committed. @throws InvalidSecondFactorCodeError, RateLimitedError */
  async refuseLogin(holder: CodeHolder, refused: Refused): Promise<never> {
    if (refused === 'not compared') return this.refuse(holder, 'login');
    await this.noteFailed(holder, 'login');
    throw new InvalidSecondFactorCodeError();
  }

  /** @throws RateLimitedError */
  async refuse(holder: CodeHolder, scope: AttemptScope): Promise<never> {
    const attempt = { userId: holder.id, scope };
    await this.noteFailed(holder, scope);
    const { since } = (await this.attempts.find(attempt)) ?? { since: Date.now() };
    const waitMs = since + ATTEMPT_WINDOW_MS - Date.now();
    throw new RateLimitedError(TOO_MANY_WRONG_CODES, Math.max(1, Math.ceil(waitMs / 1000)));
  }

  /** Mails a notice once nothing is left to guess: whoever sent the codes knows the password, or has a session. */
  async noteFailed(holder: CodeHolder, scope: AttemptScope): Promise<void> {
    const attempt = { userId: holder.id, scope };
    if ((await this.attempts.find(attempt))?.count !== MAX_FAILED_ATTEMPTS) return;
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
}
