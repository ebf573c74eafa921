import { Injectable } from '@nestjs/common';
import { type OperatorActor, principalOf } from '../access/principal.js';
import {
  RecoveryCodesRepository,
  SecondFactorRows,
  SecondFactorsRepository,
} from '../auth/second-factor/second-factors.repository.js';
import type { EncryptedSecrets } from '../auth/tokens/derived-keys.js';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { Mails } from '../mail/mails.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { suspensionEvents } from '../orgs/state/user-memberships.js';
import { RefusedError } from '../problems/problem.js';
import { type LockedUser, UserChanges } from '../users/user-changes.js';
import { UsersRepository } from '../users/users.repository.js';
import { UserUpdatesRepository } from '../users/users.updates.js';
import { UserOperations } from './user-operations.js';

export interface NewOperator {
  email: string;
  name: string | null;
  passwordHash: string;
}

export interface NewFactor {
  secret: Buffer;
  secrets: EncryptedSecrets;
  /** the step of the code that proved the secret, which no login may use again; 0 without a proof */
  lastStep: number;
  recoveryCodeHashes: string[];
}

const ENABLED = { type: 'account.second_factor_enabled' } as const;

/** Makes operators of people who have no second factor yet: one transaction writes all of it. */
@Injectable()
export class OperatorCreation {
  constructor(
    private readonly users: UsersRepository,
    private readonly updates: UserUpdatesRepository,
    private readonly changes: UserChanges,
    private readonly orgs: OrgChanges,
    private readonly operations: UserOperations,
    private readonly rows: SecondFactorRows,
    private readonly factors: SecondFactorsRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly events: EventsRepository,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
  ) {}

  /** Returns the id of the new user. @throws email_taken */
  create({ email, name, passwordHash }: NewOperator, factor: NewFactor, actor: OperatorActor) {
    return this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      const more = { name, emailVerifiedAt: Date.now() };
      const { id: userId, revision } = await this.users.create(tx, email, passwordHash, more);
      const event = { type: 'account.registered', actor, userId, data: { via: 'operator' } } as const;
      await this.events.record(tx, { ...event, userRevision: revision });
      const user = (await this.changes.raise(tx, actor, userId))!;
      await this.enable(tx, user, factor);
      await user.record(ENABLED);
      await this.operations.grant(tx, user);
      return userId;
    });
  }

  /** The user keeps the password. Ends every session. @throws RefusedError */
  protect(userId: string, factor: NewFactor, actor: OperatorActor) {
    return this.orgs.inOrgsOf({ actor }, userId, async (tx, user, memberships) => {
      if (user.disabledAt !== null) throw new RefusedError('the user is disabled', 'account_disabled');
      if (user.secondFactorAt !== null)
        throw new RefusedError('the user has turned on two-factor authentication: run the command again');
      await this.enable(tx, user, factor);
      const resumed = suspensionEvents('member.resumed', { actor, userId, memberships });
      await user.recordWithEnd(ENABLED, { reason: 'second_factor_enabled' }, ...resumed);
      const { email: recipient } = user;
      await this.mails.notify(tx, { kind: 'second_factor_enabled', recipient, senderId: userId });
      if (user.operatorSince === null) await this.operations.grant(tx, user);
      return {};
    });
  }

  private async enable(
    tx: Transaction,
    { id }: LockedUser,
    { secret, secrets, lastStep, recoveryCodeHashes }: NewFactor,
  ): Promise<void> {
    const enabledAt = Date.now();
    await this.updates.setSecondFactor(tx, id, enabledAt);
    // A pending secret, which the user has begun to set up.
    await this.rows.delete(tx, id);
    const factor = { userId: id, secret: secrets.encrypt(secret, id), lastStep, enabledAt };
    await this.factors.insertEnabled(tx, [factor]);
    await this.recoveryCodes.replaceAll(tx, id, recoveryCodeHashes);
  }
}
