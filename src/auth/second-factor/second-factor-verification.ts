import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { Mails } from '../../mail/mails.js';
import type { EventWithout } from '../../record/new-event.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import type { Credentials } from '../../users/users.repository.js';
import { AppCodes } from './app-codes.js';
import { readTypedCode, type TypedCode } from './code-text.js';
import type { AttemptScope } from './failed-attempts.entity.js';
import { type CodeHolder, GuessLimit } from './guess-limit.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { InvalidSecondFactorCodeError } from './second-factor.errors.js';
import {
  type ComparedFactor,
  type FactorOfUser,
  SecondFactorsRepository,
} from './second-factors.repository.js';

/** A code that is right, and that `use` has yet to use up. */
export type ShownCode = { holder: CodeHolder; scope: AttemptScope } & (
  | { kind: 'app'; step: number; enabledAt: number }
  | { kind: 'recovery'; hash: string }
);

/** Six digits are not compared where too many were wrong. */
export type Refused = 'wrong' | 'wrong digits' | 'not compared';

export type Attempt = { result: 'right'; events: UsedCodeEvent[] } | { result: Refused };

export type UsedCodeEvent = EventWithout<'actor', 'account.recovery_code_used'>;

// `show`, outside any transaction, counts a failure in a statement that commits, and compares; a dry run stops there. `use`
// uses the code up in the transaction that acts, which one of any number of requests can. A login does both by `attempt`.
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
    if (!(await this.consume(transaction, shown))) throw new InvalidSecondFactorCodeError();
    return this.complete(transaction, shown);
  }

  /** Commit the transaction whatever came of it, since it holds the count, and only then let `refuse` answer. */
  async attempt(transaction: Transaction, user: FactorOfUser, typed: string): Promise<Attempt> {
    const code = readTypedCode(typed);
    if (!code) return { result: 'wrong' };
    const isDigits = code.kind === 'app';
    if (isDigits && !(await this.limit.countIn(transaction, user))) return { result: 'not compared' };
    const { id, email, factor } = user;
    const shown = this.toUse({ id, email }, factor, code, 'login');
    if (shown && (await this.consume(transaction, shown))) {
      return { result: 'right', events: await this.complete(transaction, shown) };
    }
    return { result: isDigits ? 'wrong digits' : 'wrong' };
  }

  /** @throws InvalidSecondFactorCodeError, RateLimitedError */
  async refuse(holder: CodeHolder, result: Refused): Promise<never> {
    if (result === 'not compared') return this.limit.refuse(holder, 'login');
    if (result === 'wrong digits') await this.limit.noteFailed(holder, 'login');
    throw new InvalidSecondFactorCodeError();
  }

  private toUse(
    holder: CodeHolder,
    factor: ComparedFactor | undefined,
    code: TypedCode,
    scope: AttemptScope,
  ): ShownCode | undefined {
    if (code.kind === 'recovery') return { holder, scope, ...code };
    const step = factor && this.appCodes.findUnused(holder.id, factor, code.digits);
    const { enabledAt = null } = factor ?? {};
    if (step === undefined || enabledAt === null) return undefined;
    return { holder, scope, kind: 'app', step, enabledAt };
  }

  private async compare(holder: CodeHolder, digits: string): Promise<ShownCode> {
    await this.limit.count(holder);
    const factor = await this.factors.find(holder.id);
    const shown = this.toUse(holder, factor, { kind: 'app', digits }, 'signed-in');
    if (shown) return shown;
    await this.limit.noteFailed(holder, 'signed-in');
    throw new InvalidSecondFactorCodeError();
  }

  private consume(transaction: Transaction, shown: ShownCode): Promise<boolean> {
    const { id } = shown.holder;
    return shown.kind === 'app'
      ? this.factors.useStep(transaction, id, shown)
      : this.recoveryCodes.use(transaction, id, shown.hash);
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
