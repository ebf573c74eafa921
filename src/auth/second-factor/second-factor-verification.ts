import { Injectable, Logger } from '@nestjs/common';
import { isForeignKeyViolation } from '../../database/transactions/database-errors.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import type { EventWithout } from '../../events/event-types.js';
import { Mails } from '../../mail/mails.js';
import { RateLimitedError } from '../../rate-limits/admissions.js';
import type { Credentials } from '../../users/users.repository.js';
import { UserUpdatesRepository } from '../../users/users.updates.js';
import { EncryptedSecrets } from '../tokens/derived-keys.js';
import { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing } from '../tokens/signing-keys.js';
import { findStep, readTypedCode } from './codes.js';
import {
  type PendingFactor,
  RecoveryCodesRepository,
  SecondFactorsRepository,
  type StoredSecret,
} from './second-factors.repository.js';
import {
  type FailureCount,
  type FailureScope,
  isFull,
  SecondFactorFailuresRepository,
  secondsUntilFree,
  withWrongCode,
} from './second-factor-failures.repository.js';
import { Problem } from '../../problems/problem.js';

export const TOO_MANY_WRONG_CODES =
  'Too many wrong TOTP codes for this user; wait before the next one, or send a recovery code.';

export type FactorOwner = Pick<Credentials, 'id' | 'email'>;

export type CheckedCode = { user: FactorOwner; scope: FailureScope } & (
  | { kind: 'totp'; step: number; enabledAt: number }
  | { kind: 'recovery'; hash: string }
);

/** Another request has used the code since `check`, or the factor has changed. */
const REFUSAL_AFTER_CHECK = {
  totp: 'second_factor_code_used',
  recovery: 'invalid_second_factor_code',
} as const;

/** whether a code was compared, or was not a code at all, and so opened nothing */
export function isWrongCode(error: unknown): boolean {
  return error instanceof Problem && Object.values<string>(REFUSAL_AFTER_CHECK).includes(error.code);
}

type UsedCodeEvent = EventWithout<'actor', 'account.recovery_code_used'>;

// `check` commits its count at once, so that a dry run counts too. `use` succeeds once, in the acting transaction.
@Injectable()
export class SecondFactorVerification {
  private readonly logger = new Logger('SecondFactor');
  private readonly secrets: EncryptedSecrets;

  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly failures: SecondFactorFailuresRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly users: UserUpdatesRepository,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
    private readonly keyFile: KeyFileWatch,
    keys: KeyRing,
  ) {
    this.secrets = new EncryptedSecrets(keys, 'second factor secrets');
  }

  // After ten wrong TOTP codes in 15 minutes, accepts only recovery codes: no attacker can lock the owner out.
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

  async checkPending(user: FactorOwner, typed: string): Promise<PendingFactor & { step: number }> {
    const code = readTypedCode(typed);
    const factor = await this.factors.findPending(user.id);
    if (code?.kind !== 'totp' || !factor)
      throw new Problem('invalid_second_factor_code', { userId: user.id });
    // A stolen session must not guess the code of a factor that the owner is about to confirm.
    return { ...factor, step: await this.checkTotp(user, 'signed-in', factor, code.digits) };
  }

  /** Call it after the statement that changes the user's row, and record the event that it returns. */
  async use(tx: Transaction, code: CheckedCode): Promise<UsedCodeEvent | undefined> {
    const { id: userId, email: recipient } = code.user;
    const isUsed =
      code.kind === 'totp'
        ? await this.factors.useStep(tx, userId, code)
        : await this.recoveryCodes.use(tx, userId, code.hash);
    if (!isUsed) throw new Problem(REFUSAL_AFTER_CHECK[code.kind], { userId });
    await this.failures.clear(tx, userId, code.scope);
    if (code.kind === 'totp') return undefined;

    await this.mails.notify(tx, { kind: 'recovery_code_used', recipient, senderId: userId });
    await this.users.raiseRevisions(tx, [userId]);
    const { revision: userRevision } = await this.users.stateOf(tx, userId);
    return { type: 'account.recovery_code_used', userId, userRevision };
  }

  async usePending(
    tx: Transaction,
    userId: string,
    { pendingUntil, step, enabledAt }: { pendingUntil: number; step: number; enabledAt: number },
  ): Promise<void> {
    if (!(await this.factors.enable(tx, userId, { pendingUntil, step, enabledAt })))
      throw new Problem('invalid_second_factor_code', { userId });
    await this.failures.clear(tx, userId, 'signed-in');
  }

  private async checkTotp(
    { id, email }: FactorOwner,
    scope: FailureScope,
    factor: StoredSecret,
    digits: string,
  ): Promise<number> {
    requireRoom(id, await this.failures.find(id, scope));
    // Another instance may have read a new key first.
    if (!this.secrets.hasKeyOf(factor.secret)) await this.keyFile.reloadForUnknownKey();
    const compare = async (tx: Transaction): Promise<number | undefined> => {
      // Locks the count until COMMIT, so that no instance compares two codes of a user at once.
      const failures = await this.failures.lock(tx, id, scope);
      requireRoom(id, failures);
      const found = this.findStep(id, factor, digits);
      const isUnused = found !== undefined && found > factor.lastStep;
      // A right code writes too, so that checks on two nodes of a cluster conflict.
      const counted = isUnused ? { ...failures, since: failures.since + 1 } : withWrongCode(failures);
      const isNoticeDue = isFull(counted) && counted.notified === 0;
      await this.failures.save(tx, id, scope, isNoticeDue ? { ...counted, notified: 1 } : counted);
      const notice = { kind: 'second_factor_guessed', recipient: email, senderId: id } as const;
      if (isNoticeDue) await this.mails.notify(tx, notice);
      return found;
    };
    const step = await this.transactions.run({ principal: id, row: id }, compare).catch((error: unknown) => {
      if (!isForeignKeyViolation(error)) throw error;
      return undefined;
    });
    if (step === undefined) throw new Problem('invalid_second_factor_code', { userId: id });
    if (step <= factor.lastStep) throw new Problem('second_factor_code_used', { userId: id });
    return step;
  }

  /** Returns the step even if it was used; undefined also if no key decrypts the secret. */
  private findStep(userId: string, { secret: encrypted }: StoredSecret, digits: string): number | undefined {
    const secret = this.secrets.decrypt(encrypted, userId);
    if (secret) return findStep(secret, digits, Date.now());
    const msg = 'no key decrypts the TOTP secret of this user; restore the key that encrypted it';
    this.logger.error({ msg, userId });
    return undefined;
  }
}

function requireRoom(userId: string, failures: FailureCount | undefined): void {
  if (!failures || !isFull(failures)) return;
  throw new RateLimitedError(TOO_MANY_WRONG_CODES, secondsUntilFree(failures), {
    limit: 'second-factor',
    userId,
  });
}
