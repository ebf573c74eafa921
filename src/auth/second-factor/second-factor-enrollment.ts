import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { isForeignKeyViolation } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { Mails } from '../../mail/mails.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { UserEmailsRepository } from '../../users/user-emails.repository.js';
import { UserEvents } from '../../users/user-events.js';
import { UsersRepository } from '../../users/users.repository.js';
import type { HashClient } from '../passwords/hash-queue.js';
import { OwnPasswordService } from '../passwords/own-password.service.js';
import { PASSWORD_AND_CODE } from '../sessions/alive.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { base32, newRecoveryCodes, otpauthUri } from './code-text.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorVerification } from './second-factor-verification.js';
import { SecondFactorEnabledError, VerifiedEmailRequiredError } from './second-factor.errors.js';
import { SecondFactorsRepository } from './second-factors.repository.js';
import { newTotpSecret, TotpSecrets } from './totp.js';

const PENDING_MS = 10 * 60_000;

export interface Enrollment {
  /** base32 */
  secret: string;
  uri: string;
}

@Injectable()
export class SecondFactorEnrollment {
  constructor(
    private readonly users: UsersRepository,
    private readonly changes: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly passwords: OwnPasswordService,
    private readonly factors: SecondFactorsRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly totp: TotpSecrets,
    private readonly verification: SecondFactorVerification,
    private readonly sessions: SessionRevocation,
    private readonly events: UserEvents,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** Replaces a pending secret. @throws WrongPasswordError, SecondFactorEnabledError, InvalidTokenError */
  async begin(userId: string, password: string, client: HashClient): Promise<Enrollment> {
    const { email, secondFactorAt } = await this.passwords.verify(userId, password, client);
    if (secondFactorAt !== null) throw new SecondFactorEnabledError();
    const bytes = newTotpSecret();
    const pending = { secret: this.totp.encrypt(bytes, userId), pendingUntil: Date.now() + PENDING_MS };
    try {
      const isStored = await this.transactions.run(
        (transaction) => this.factors.putPending(transaction, userId, pending),
        { principal: userId, row: userId },
      );
      if (!isStored) throw new SecondFactorEnabledError();
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidTokenError('user_gone') : error;
    }
    const secret = base32(bytes);
    return { secret, uri: otpauthUri({ issuer: this.env.mfaIssuer, email, secret }) };
  }

  /**
   * Returns the recovery codes. Ends other sessions.
   * @throws InvalidSecondFactorCodeError, SecondFactorEnabledError, VerifiedEmailRequiredError, RateLimitedError,
   * InvalidTokenError
   */
  async confirm(actor: UserActor, typed: string): Promise<string[]> {
    const user = await this.users.findById(actor.id);
    if (!user) throw new InvalidTokenError('user_gone');
    if (user.secondFactorAt !== null) throw new SecondFactorEnabledError();
    this.requireVerified(user);
    const checked = await this.verification.checkPending(user, typed);
    const { texts, hashes } = newRecoveryCodes();
    const { id: userId } = user;
    await this.transactions.run(
      async (transaction) => {
        const enabledAt = Date.now();
        if (!(await this.changes.enableSecondFactor(transaction, userId, enabledAt)))
          throw new SecondFactorEnabledError();
        this.requireVerified(await this.emails.emailOf(transaction, userId));
        await this.verification.usePending(transaction, userId, { ...checked, enabledAt });
        await this.sessions.keepActing(transaction, actor, PASSWORD_AND_CODE);
        await this.recoveryCodes.replaceAll(transaction, userId, hashes);
        await this.record(transaction, actor, user.email);
      },
      { principal: userId, row: userId },
    );
    return texts;
  }

  /** Otherwise a stranger could register an email and lock its owner out for good: no password reset removes a factor. */
  private requireVerified({ emailVerifiedAt }: { emailVerifiedAt: number | null }): void {
    if (this.env.smtp && emailVerifiedAt === null) throw new VerifiedEmailRequiredError();
  }

  private async record(transaction: Transaction, actor: UserActor, recipient: string): Promise<void> {
    const { id: userId, sessionId } = actor;
    await this.events.recordWithEnd(
      transaction,
      { type: 'account.second_factor_enabled', actor, userId },
      { reason: 'second_factor_enabled', except: sessionId },
    );
    await this.mails.notify(transaction, { kind: 'second_factor_enabled', recipient, senderId: userId });
  }
}
