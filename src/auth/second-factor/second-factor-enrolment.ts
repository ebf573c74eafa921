import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/actor.js';
import { Env } from '../../config/env.js';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { Mails } from '../../mail/mails.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { UserEvents } from '../../users/user-events.js';
import { UserEmailsRepository } from '../../users/user-emails.repository.js';
import { UsersRepository } from '../../users/users.repository.js';
import type { HashClient } from '../passwords/hash-queue.js';
import { OwnPasswordService } from '../passwords/own-password.service.js';
import { PASSWORD_AND_CODE } from '../sessions/authentication-methods.js';
import { SessionOpening } from '../sessions/session-opening.service.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AppCodes } from './app-codes.js';
import { base32 } from './base32.js';
import { newRecoveryCodes, readTypedCode } from './code-text.js';
import { type CodeHolder, GuessLimit } from './guess-limit.js';
import { otpauthUri } from './otpauth-uri.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import {
  InvalidSecondFactorCodeError,
  SecondFactorEnabledError,
  VerifiedEmailRequiredError,
} from './second-factor.errors.js';
import { SecondFactorSecrets } from './second-factor-secrets.js';
import { SecondFactorsRepository, type StoredFactor } from './second-factors.repository.js';
import { newTotpSecret } from './totp.js';

const PENDING_MS = 10 * 60_000;

export interface Enrolment {
  secret: string;
  uri: string;
}

/** A TOTP code, right for the secret that was pending when it was compared. */
interface Proof {
  pendingUntil: number;
  step: number;
}

@Injectable()
export class SecondFactorEnrolment {
  constructor(
    private readonly users: UsersRepository,
    private readonly changes: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly passwords: OwnPasswordService,
    private readonly factors: SecondFactorsRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly secrets: SecondFactorSecrets,
    private readonly appCodes: AppCodes,
    private readonly limit: GuessLimit,
    private readonly sessions: SessionOpening,
    private readonly events: UserEvents,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** Replaces a pending secret. @throws WrongPasswordError, SecondFactorEnabledError, InvalidTokenError */
  async begin(userId: string, password: string, client: HashClient): Promise<Enrolment> {
    const { email, secondFactorAt } = await this.passwords.verify(userId, password, client);
    if (secondFactorAt !== null) throw new SecondFactorEnabledError();
    const bytes = newTotpSecret();
    await this.keepPending(userId, bytes);
    const secret = base32(bytes);
    return { secret, uri: otpauthUri({ issuer: this.env.mfaIssuer, email, secret }) };
  }

  /**
   * @throws InvalidSecondFactorCodeError, SecondFactorEnabledError, VerifiedEmailRequiredError, RateLimitedError,
   * InvalidTokenError
   */
  async confirm(actor: UserActor, typed: string): Promise<string[]> {
    const user = await this.users.findById(actor.id);
    if (!user) throw new InvalidTokenError('user_gone');
    if (user.secondFactorAt !== null) throw new SecondFactorEnabledError();
    this.requireVerified(user);
    const proof = await this.prove(user, typed);
    const { texts, hashes } = newRecoveryCodes();
    await this.transactions.run(
      async (transaction) => {
        await this.enable(transaction, actor, proof);
        await this.recoveryCodes.replaceAll(transaction, user.id, hashes);
        await this.tell(transaction, actor, user.email);
      },
      { principal: user.id, row: user.id },
    );
    return texts;
  }

  private async keepPending(userId: string, bytes: Buffer): Promise<void> {
    const pending = { secret: this.secrets.seal(bytes, userId), pendingUntil: Date.now() + PENDING_MS };
    try {
      const isKept = await this.transactions.run(
        (transaction) => this.factors.putPending(transaction, userId, pending),
        { principal: userId, row: userId },
      );
      if (!isKept) throw new SecondFactorEnabledError();
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidTokenError('user_gone') : error;
    }
  }

  /** Counts attempts here, too: a stolen token must not guess its way through an enrollment that the owner has begun. */
  private async prove(user: CodeHolder, typed: string): Promise<Proof> {
    const code = readTypedCode(typed);
    const factor = await this.factors.find(user.id);
    const pendingUntil = pendingEnd(factor);
    if (code?.kind !== 'app' || !factor || pendingUntil <= Date.now())
      throw new InvalidSecondFactorCodeError();
    await this.appCodes.lookForKey(factor);
    const step = await this.limit.try(user, () => this.appCodes.findUnused(user.id, factor, code.digits));
    return { pendingUntil, step };
  }

  /** Otherwise a stranger could register an address and lock its owner out for good: no reset by email removes a factor. */
  private requireVerified({ emailVerifiedAt }: { emailVerifiedAt: number | null }): void {
    if (this.env.smtp && emailVerifiedAt === null) throw new VerifiedEmailRequiredError();
  }

  private async enable(
    transaction: Transaction,
    actor: UserActor,
    { pendingUntil, step }: Proof,
  ): Promise<void> {
    const { id } = actor;
    const enabledAt = Date.now();
    if (!(await this.changes.enableSecondFactor(transaction, id, enabledAt)))
      throw new SecondFactorEnabledError();
    this.requireVerified(await this.emails.emailOf(transaction, id));
    if (!(await this.factors.enable(transaction, id, { pendingUntil, enabledAt, step })))
      throw new InvalidSecondFactorCodeError();
    await this.limit.clear(transaction, actor, 'signed-in');
    await this.sessions.keep(transaction, actor, PASSWORD_AND_CODE);
  }

  private async tell(transaction: Transaction, actor: UserActor, email: string): Promise<void> {
    const { id: userId, sessionId } = actor;
    await this.events.recordWithEnd(
      transaction,
      { type: 'account.second_factor_enabled', actor, userId },
      { reason: 'second_factor_enabled', except: sessionId },
    );
    await this.mails.notify(transaction, {
      kind: 'second_factor_enabled',
      recipient: email,
      senderId: userId,
    });
  }
}

function pendingEnd(factor: StoredFactor | undefined): number {
  return factor?.enabledAt === null ? (factor.pendingUntil ?? 0) : 0;
}
