import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { Mails } from '../../mail/mails.js';
import type { EventWithout } from '../../events/event-types.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import type { Credentials } from '../../users/users.repository.js';
import { AppCodes } from './app-codes.js';
import { readTypedCode } from './code-text.js';
import type { AttemptScope } from './failed-attempts.entity.js';
import { type CodeHolder, GuessLimit } from './guess-limit.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { InvalidSecondFactorCodeError } from './second-factor.errors.js';
import { SecondFactorsRepository, type UsedStep } from './second-factors.repository.js';

/** A code that is right, and that `use` has yet to use up. */
export type ShownCode = { holder: CodeHolder; scope: AttemptScope } & (
  | ({ kind: 'app' } & UsedStep)
  | { kind: 'recovery'; hash: string }
);

export type UsedCodeEvent = EventWithout<'actor', 'account.recovery_code_used'>;

// `show` compares, and counts a failure in a transaction of its own, which commits; a dry run stops there. `use`
// uses the code up in the transaction that acts, which one of any number of requests can.
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
   * Refuses six digits once ten were wrong in 15 minutes, and never a recovery code: nobody can lock the owner out.
   * @throws InvalidSecondFactorCodeError, RateLimitedError
   */
  async show(user: Pick<Credentials, 'id' | 'email' | 'secondFactorAt'>, typed: string): Promise<ShownCode> {
    const { id, email, secondFactorAt } = user;
    const code = readTypedCode(typed);
    if (secondFactorAt === null || code === undefined) throw new InvalidSecondFactorCodeError();
    const holder = { id, email };
    if (code.kind === 'app') return this.compare(holder, code.digits);
    if (!(await this.recoveryCodes.isUnused(id, code.hash))) throw new InvalidSecondFactorCodeError();
    return { holder, scope: 'signed-in', ...code };
  }

  /**
   * Call it after the statement that changes the user's row, where there is one, and record the events that it returns with
   * the actor of the request.
   * @throws InvalidSecondFactorCodeError if the code was used, or the factor removed, meanwhile
   */
  async use(transaction: Transaction, shown: ShownCode): Promise<UsedCodeEvent[]> {
    if (!(await this.consume(transaction, shown))) throw new InvalidSecondFactorCodeError(shown.holder.id);
    return this.complete(transaction, shown);
  }

  private async compare(holder: CodeHolder, digits: string): Promise<ShownCode> {
    const factor = await this.factors.find(holder.id);
    await this.appCodes.lookForKey(factor);
    const used = await this.limit.try(holder, () => this.appCodes.compare(holder.id, factor, digits));
    return { holder, scope: 'signed-in', kind: 'app', ...used };
  }

  private consume(transaction: Transaction, shown: ShownCode): Promise<boolean> {
    return shown.kind === 'app'
      ? this.factors.useSteps(transaction, [shown])
      : this.recoveryCodes.use(transaction, shown.holder.id, shown.hash);
  }

  private async complete(
    transaction: Transaction,
    { holder, scope, kind }: ShownCode,
  ): Promise<UsedCodeEvent[]> {
    await this.limit.clear(transaction, holder, scope);
    return kind === 'recovery' ? [await this.tellOfRecoveryCode(transaction, holder)] : [];
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
