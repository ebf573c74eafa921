import { Injectable } from '@nestjs/common';
import { isForeignKeyViolation } from '../../database/transactions/database-errors.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import type { EventWithout } from '../../events/event-types.js';
import { Mails } from '../../mail/mails.js';
import { RateLimitedError } from '../../rate-limits/admissions.js';
import type { Credentials } from '../../users/users.repository.js';
import { UserUpdates } from '../../users/users.updates.js';
import { readTypedCode, TotpSecrets } from './codes.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import {
  type FailureCount,
  type FailureScope,
  isFull,
  SecondFactorFailuresRepository,
  secondsUntilFree,
  withRightCode,
  withWrongCode,
} from './second-factor-failures.repository.js';
import { TOO_MANY_WRONG_CODES } from './second-factor.errors.js';
import {
  type PendingFactor,
  SecondFactorsRepository,
  type StoredSecret,
} from './second-factors.repository.js';
import { Problem } from '../../problems/problem.js';

export type CodeHolder = Pick<Credentials, 'id' | 'email'>;

export type CheckedCode = { user: CodeHolder; scope: FailureScope } & (
  | { kind: 'totp'; step: number; enabledAt: number }
  | { kind: 'recovery'; hash: string }
);

/** Another request has used the code since `check`, or the factor has changed. */
const REFUSAL_AFTER_CHECK = {
  totp: 'second_factor_code_used',
  recovery: 'invalid_second_factor_code',
} as const;

type UsedCodeEvent = EventWithout<'actor', 'account.recovery_code_used'>;

// `check` counts a wrong code and commits before the request acts, so that a dry run counts too. `use` is part of the
// acting transaction, and succeeds once.
@Injectable()
export class SecondFactorVerification {
  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly failures: SecondFactorFailuresRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly totp: TotpSecrets,
    private readonly users: UserUpdates,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Rejects TOTP codes after ten wrong ones in 15 minutes. Accepts recovery codes at any time, so that no attacker
   * can lock the owner out.
   * @throws invalid_second_factor_code, RateLimitedError
   */
  async check(
    { id, email, secondFactorAt }: Pick<Credentials, 'id' | 'email' | 'secondFactorAt'>,
    scope: FailureScope,
    typed: string,
  ): Promise<CheckedCode> {
    const code = readTypedCode(typed);
    if (secondFactorAt === null || code === undefined)
      throw new Problem('invalid_second_factor_code', { userId: id });
    const user = { id, email };
    if (code.kind === 'recovery') {
      if (!(await this.recoveryCodes.isUnused(id, code.hash)))
        throw new Problem('invalid_second_factor_code', { userId: id });
      return { ...code, user, scope };
    }
    const factor = await this.factors.findEnabled(id);
    if (!factor) throw new Problem('invalid_second_factor_code', { userId: id });
    const step = await this.checkTotp(user, scope, factor, code.digits);
    return { kind: 'totp', step, enabledAt: factor.enabledAt, user, scope };
  }

  async checkPending(user: CodeHolder, typed: string): Promise<PendingFactor & { step: number }> {
    const code = readTypedCode(typed);
    const factor = await this.factors.findPending(user.id);
    if (code?.kind !== 'totp' || !factor)
      throw new Problem('invalid_second_factor_code', { userId: user.id });
    // A stolen session must not guess the code of a factor that the owner is about to confirm.
    return { ...factor, step: await this.checkTotp(user, 'signed-in', factor, code.digits) };
  }

  /**
   * Call it after the statement that changes the user's row, and record the event that it returns.
   * @throws invalid_second_factor_code if the code or the factor has changed since
   */
  async use(transaction: Transaction, code: CheckedCode): Promise<UsedCodeEvent | undefined> {
    const { id: userId, email: recipient } = code.user;
    const isUsed =
      code.kind === 'totp'
        ? await this.factors.useStep(transaction, userId, code)
        : await this.recoveryCodes.use(transaction, userId, code.hash);
    if (!isUsed) throw new Problem(REFUSAL_AFTER_CHECK[code.kind], { userId });
    await this.failures.clear(transaction, userId, code.scope);
    if (code.kind === 'totp') return undefined;

    await this.mails.notify(transaction, { kind: 'recovery_code_used', recipient, senderId: userId });
    await this.users.raiseRevisions(transaction, [userId]);
    const { revision: userRevision } = await this.users.stateOf(transaction, userId);
    return { type: 'account.recovery_code_used', userId, userRevision };
  }

  /** Enables the factor that `checkPending` found, and uses the step. @throws invalid_second_factor_code if it was replaced */
  async usePending(
    transaction: Transaction,
    userId: string,
    { pendingUntil, step, enabledAt }: { pendingUntil: number; step: number; enabledAt: number },
  ): Promise<void> {
    if (!(await this.factors.enable(transaction, userId, { pendingUntil, step, enabledAt })))
      throw new Problem('invalid_second_factor_code', { userId });
    await this.failures.clear(transaction, userId, 'signed-in');
  }

  private async checkTotp(
    user: CodeHolder,
    scope: FailureScope,
    factor: StoredSecret,
    digits: string,
  ): Promise<number> {
    requireRoom(user.id, await this.failures.find(user.id, scope));
    await this.totp.loadKeyOf(factor);
    const step = await this.transactions
      .run({ principal: user.id, row: user.id }, (transaction) =>
        this.compare(transaction, user, scope, factor, digits),
      )
      .catch((error: unknown) => {
        if (!isForeignKeyViolation(error)) throw error;
        return undefined;
      });
    if (step === undefined) throw new Problem('invalid_second_factor_code', { userId: user.id });
    if (step <= factor.lastStep) throw new Problem('second_factor_code_used', { userId: user.id });
    return step;
  }

  /** Locks the count until COMMIT, so that no instance compares two codes of a user at once. */
  private async compare(
    transaction: Transaction,
    user: CodeHolder,
    scope: FailureScope,
    factor: StoredSecret,
    digits: string,
  ): Promise<number | undefined> {
    const { id, email } = user;
    const failures = await this.failures.lock(transaction, id, scope);
    requireRoom(id, failures);
    const step = this.totp.findStep(id, factor, digits);
    const isUnused = step !== undefined && step > factor.lastStep;
    const counted = isUnused ? withRightCode(failures) : withWrongCode(failures);
    const isNoticeDue = isFull(counted) && counted.notified === 0;
    await this.failures.save(transaction, id, scope, isNoticeDue ? { ...counted, notified: 1 } : counted);
    if (isNoticeDue)
      await this.mails.notify(transaction, { kind: 'second_factor_guessed', recipient: email, senderId: id });
    return step;
  }
}

function requireRoom(userId: string, failures: FailureCount | undefined): void {
  if (!failures || !isFull(failures)) return;
  throw new RateLimitedError(TOO_MANY_WRONG_CODES, secondsUntilFree(failures), {
    limit: 'second-factor',
    userId,
  });
}
