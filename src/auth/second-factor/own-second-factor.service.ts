import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/principal.js';
import { LostConflictError } from '../../database/transactions/transaction-errors.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { Mails } from '../../mail/mails.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { UserEvents } from '../../users/user-events.js';
import { UsersRepository } from '../../users/users.repository.js';
import type { HashClient } from '../passwords/hash-queue.js';
import { PASSWORD_ALONE } from '../sessions/alive.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { newRecoveryCodes } from './code-text.js';
import { type OwnerProof, OwnerProofs, type ProvenOwner } from './owner-proofs.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorRemoval } from './second-factor-removal.js';
import { InvalidSecondFactorCodeError } from './second-factor.errors.js';

export interface SecondFactorState {
  enabledAt: number | null;
  recoveryCodesLeft: number;
}

@Injectable()
export class OwnSecondFactorService {
  constructor(
    private readonly users: UsersRepository,
    private readonly changes: UserChangesRepository,
    private readonly proofs: OwnerProofs,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly removal: SecondFactorRemoval,
    private readonly sessions: SessionRevocation,
    private readonly events: UserEvents,
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
  async renewRecoveryCodes(actor: UserActor, proof: OwnerProof, client: HashClient): Promise<string[]> {
    const owner = await this.verify(actor, proof, client);
    const { id: userId, email: recipient, authEpoch } = owner.credentials;
    const { texts, hashes } = newRecoveryCodes();
    await this.transactions.run(
      async (transaction) => {
        if (!(await this.changes.lockInEpoch(transaction, userId, authEpoch)))
          throw new LostConflictError(undefined);
        await this.proofs.use(transaction, owner, actor);
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
  async remove(actor: UserActor, proof: OwnerProof, client: HashClient): Promise<void> {
    const owner = await this.verify(actor, proof, client);
    const user = owner.credentials;
    await this.transactions.run(
      async (transaction) => {
        if (!(await this.changes.removeSecondFactor(transaction, user.id)))
          throw new InvalidSecondFactorCodeError();
        await this.proofs.use(transaction, owner, actor);
        await this.sessions.keepActing(transaction, actor, PASSWORD_ALONE);
        await this.removal.complete(transaction, { user, actor, except: actor.sessionId });
      },
      { principal: user.id, row: user.id },
    );
  }

  private async verify(actor: UserActor, proof: OwnerProof, client: HashClient): Promise<ProvenOwner> {
    const owner = await this.proofs.verify(actor.id, proof, client);
    if (!owner.code) throw new InvalidSecondFactorCodeError();
    return owner;
  }
}
