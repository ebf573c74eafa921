import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/actor.js';
import { LostConflictError } from '../../database/transaction-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { Mails } from '../../mail/mails.js';
import { EventsRepository } from '../../events/events.repository.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { UserEvents } from '../../users/user-events.js';
import { type Credentials, UsersRepository } from '../../users/users.repository.js';
import type { HashClient } from '../passwords/hash-queue.js';
import { OwnPasswordService } from '../passwords/own-password.service.js';
import { PASSWORD_ALONE } from '../sessions/authentication-methods.js';
import { SessionOpening } from '../sessions/session-opening.service.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { newRecoveryCodes } from './code-text.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { InvalidSecondFactorCodeError } from './second-factor.errors.js';
import { SecondFactorRemoval } from './second-factor-removal.js';
import { SecondFactorVerification, type ShownCode } from './second-factor-verification.js';

export interface SecondFactorState {
  enabledAt: number | null;
  recoveryCodesLeft: number;
}

/** Both are asked for, since either alone may be stolen. */
interface Proofs {
  password: string;
  code: string;
}

@Injectable()
export class OwnSecondFactorService {
  constructor(
    private readonly users: UsersRepository,
    private readonly changes: UserChangesRepository,
    private readonly passwords: OwnPasswordService,
    private readonly verification: SecondFactorVerification,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly removal: SecondFactorRemoval,
    private readonly sessions: SessionOpening,
    private readonly events: UserEvents,
    private readonly record: EventsRepository,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
  ) {}

  /** @throws InvalidTokenError */
  async find(userId: string): Promise<SecondFactorState> {
    const user = await this.users.findById(userId);
    if (!user) throw new InvalidTokenError('user_gone');
    const { secondFactorAt: enabledAt } = user;
    return {
      enabledAt,
      recoveryCodesLeft: enabledAt === null ? 0 : await this.recoveryCodes.countUnused(userId),
    };
  }

  /** @throws WrongPasswordError, InvalidSecondFactorCodeError, RateLimitedError, InvalidTokenError, LostConflictError */
  async renewRecoveryCodes(actor: UserActor, proofs: Proofs, client: HashClient): Promise<string[]> {
    const { user, shown } = await this.verify(actor, proofs, client);
    const { id: userId, email: recipient, authEpoch } = user;
    const { texts, hashes } = newRecoveryCodes();
    await this.transactions.run(
      async (transaction) => {
        if (!(await this.changes.lockInEpoch(transaction, userId, authEpoch)))
          throw new LostConflictError(undefined);
        await this.useCode(transaction, shown, actor);
        await this.recoveryCodes.replaceAll(transaction, userId, hashes);
        await this.events.record(transaction, { type: 'account.recovery_codes_renewed', actor, userId });
        const notice = { kind: 'recovery_codes_renewed', recipient, senderId: userId } as const;
        await this.mails.notify(transaction, notice);
      },
      { principal: userId, row: userId },
    );
    return texts;
  }

  /** Ends other sessions. @throws WrongPasswordError, InvalidSecondFactorCodeError, RateLimitedError, InvalidTokenError */
  async remove(actor: UserActor, proofs: Proofs, client: HashClient): Promise<void> {
    const { user, shown } = await this.verify(actor, proofs, client);
    await this.transactions.run(
      async (transaction) => {
        if (!(await this.changes.removeSecondFactor(transaction, user.id)))
          throw new InvalidSecondFactorCodeError();
        await this.useCode(transaction, shown, actor);
        await this.sessions.keep(transaction, actor, PASSWORD_ALONE);
        await this.removal.complete(transaction, { user, actor, except: actor.sessionId });
      },
      { principal: user.id, row: user.id },
    );
  }

  private async useCode(transaction: Transaction, shown: ShownCode, actor: UserActor): Promise<void> {
    for (const event of await this.verification.use(transaction, shown))
      await this.record.record(transaction, { ...event, actor });
  }

  private async verify(
    actor: UserActor,
    { password, code }: Proofs,
    client: HashClient,
  ): Promise<{ user: Credentials; shown: ShownCode }> {
    const user = await this.passwords.verify(actor.id, password, client);
    return { user, shown: await this.verification.show(user, code) };
  }
}
