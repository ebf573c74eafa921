import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/actor.js';
import type { Transaction } from '../../database/transaction.js';
import { ValidationProblem } from '../../problems/problem.js';
import { EventsRepository } from '../../events/events.repository.js';
import type { Credentials } from '../../users/users.repository.js';
import type { HashClient } from '../passwords/hash-queue.js';
import { OwnPasswordService } from '../passwords/own-password.service.js';
import { SecondFactorVerification, type ShownCode } from './second-factor-verification.js';

export interface OwnerProof {
  /** the current one, normalized */
  password: string;
  /** of the second factor, where the account has one */
  code?: string | undefined;
}

export interface ProvenOwner {
  credentials: Credentials;
  /** right, and yet to be used up; undefined where the account has no second factor */
  shown: ShownCode | undefined;
}

export const CODE_REQUIRED = 'must be a code of the second factor';

/** Asks for the password, and for a code beside it where the account has a second factor. */
@Injectable()
export class OwnerProofs {
  constructor(
    private readonly passwords: OwnPasswordService,
    private readonly verification: SecondFactorVerification,
    private readonly events: EventsRepository,
  ) {}

  /**
   * Uses no code up: that is for `use`, in the transaction that acts.
   * @throws WrongPasswordError, ValidationProblem, InvalidSecondFactorCodeError, RateLimitedError, InvalidTokenError
   */
  async verify(userId: string, { password, code }: OwnerProof, client: HashClient): Promise<ProvenOwner> {
    const credentials = await this.passwords.verify(userId, password, client);
    if (credentials.secondFactorAt === null) return { credentials, shown: undefined };
    if (code === undefined) throw new ValidationProblem([{ field: 'code', message: CODE_REQUIRED }]);
    return { credentials, shown: await this.verification.show(credentials, code) };
  }

  /** Call it after the statement that changes the user's row, where there is one. @throws InvalidSecondFactorCodeError */
  async use(
    transaction: Transaction,
    { shown }: Pick<ProvenOwner, 'shown'>,
    actor: UserActor,
  ): Promise<void> {
    if (shown === undefined) return;
    const used = await this.verification.use(transaction, shown);
    for (const event of used) await this.events.record(transaction, { ...event, actor });
  }
}
