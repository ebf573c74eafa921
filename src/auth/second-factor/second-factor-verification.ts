import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { Mails } from '../../mail/mails.js';
import type { EventWithout } from '../../record/new-event.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import type { Credentials } from '../../users/users.repository.js';
import { AppCodes } from './app-codes.js';
import { readTypedCode } from './code-text.js';
import type { AttemptScope } from './failed-attempts.entity.js';
import { type CodeHolder, GuessLimit } from './guess-limit.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { InvalidSecondFactorCodeError } from './second-factor.errors.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

/** A code that is right, and that `use` has yet to use up. */
export type ShownCode = { holder: CodeHolder; scope: AttemptScope } & (
  | { kind: 'app'; step: number; enabledAt: number }
  | { kind: 'recovery'; hash: string }
);

/** An event to record in the same transaction, by whoever acts. */
export type UsedCodeEvent = EventWithout<'actor', 'account.recovery_code_used'>;

/**
 * Asks for the second factor, in two steps:
 *
 * 1. `show`, outside any transaction, counts a failure in a statement that commits, then compares. A dry run stops here.
 * 2. `use`, in the transaction that acts, uses the code up, which only one of any number of requests can.
 */
@Injectable()
export class SecondFactorVerification {
  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly appCodes: AppCodes,
    private readonly limit: GuessLimit,
    private readonly users: UserChangesRepository,
    private readonly mails: Mails,
  ) {}

  /**
   * Takes six digits of the app, or a recovery code, as they were typed. Six digits are refused once ten were wrong in 15
   * minutes; a recovery code never is, so that nobody locks the owner out.
   * @param user as read with the password that they showed
   * @throws InvalidSecondFactorCodeError, RateLimitedError
   */
  async show(
    user: Pick<Credentials, 'id' | 'email' | 'secondFactorAt'>,
    typed: string,
    scope: AttemptScope,
  ): Promise<ShownCode> {
    const { id, email, secondFactorAt } = user;
    const code = readTypedCode(typed);
    if (secondFactorAt === null || code === undefined) throw new InvalidSecondFactorCodeError();
    const holder = { id, email };
    if (code.kind === 'app') return this.compare(holder, code.digits, scope);
    if (!(await this.recoveryCodes.isUnused(id, code.hash))) throw new InvalidSecondFactorCodeError();
    return { holder, scope, ...code };
  }

  /**
   * Call it after the statement that changes the user's row, where there is one, and record the events that it returns with
   * the actor of the request.
   * @throws InvalidSecondFactorCodeError if the code was used, or the factor removed, meanwhile
   */
  async use(transaction: Transaction, shown: ShownCode): Promise<UsedCodeEvent[]> {
    const { holder, scope } = shown;
    if (!(await this.consume(transaction, shown))) throw new InvalidSecondFactorCodeError();
    await this.limit.clear(transaction, holder, scope);
    return shown.kind === 'recovery' ? [await this.tellOfRecoveryCode(transaction, holder)] : [];
  }

  private async compare(holder: CodeHolder, digits: string, scope: AttemptScope): Promise<ShownCode> {
    await this.limit.count(holder, scope);
    const factor = await this.factors.find(holder.id);
    const { enabledAt = null } = factor ?? {};
    const step = factor && this.appCodes.findUnused(holder.id, factor, digits);
    if (enabledAt === null || step === undefined) {
      await this.limit.noteFailed(holder, scope);
      throw new InvalidSecondFactorCodeError();
    }
    return { holder, scope, kind: 'app', step, enabledAt };
  }

  private consume(transaction: Transaction, shown: ShownCode): Promise<boolean> {
    const { id } = shown.holder;
    return shown.kind === 'app'
      ? this.factors.useStep(transaction, id, shown)
      : this.recoveryCodes.use(transaction, id, shown.hash);
  }

  private async tellOfRecoveryCode(
    transaction: Transaction,
    { id: userId, email }: CodeHolder,
  ): Promise<UsedCodeEvent> {
    await this.mails.notify(transaction, { kind: 'recovery_code_used', recipient: email, senderId: userId });
    const userRevision = await this.users.raiseRevision(transaction, userId);
    return { type: 'account.recovery_code_used', userId, userRevision };
  }
}
