import { Injectable } from '@nestjs/common';
import type { Actor, Origin } from '../access/principal.js';
import type { EmailCode } from '../auth/email-codes/email-code.entity.js';
import { InvalidEmailCodeError, EMAIL_CODE_TTL_MS, EmailCodes } from '../auth/email-codes/email-codes.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { PasswordHasher } from '../auth/passwords/password-hasher.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { Transactions } from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import { LiftedLimits } from '../rate-limits/lifted-limits.js';
import { clientKey } from '../rate-limits/rate-limit-store.js';
import { UserEvents } from '../users/user-events.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { type UserProfile, UsersRepository } from '../users/users.repository.js';
import { PasswordChanges } from './password-changes.js';
import { SecondFactorRemoval } from './second-factor-removal.js';

interface Reset {
  email: string;
  code: string;
  /** the new password, normalized */
  newPassword: string;
}

/** Sets a new password for the owner of the mailbox. Nothing reveals whether there is an account. */
@Injectable()
export class PasswordRecoveryService {
  constructor(
    private readonly codes: EmailCodes,
    private readonly mails: Mails,
    private readonly users: UsersRepository,
    private readonly accounts: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly secondFactors: SecondFactorRemoval,
    private readonly changes: PasswordChanges,
    private readonly passwords: PasswordHasher,
    private readonly events: UserEvents,
    private readonly limits: LiftedLimits,
    private readonly transactions: Transactions,
  ) {}

  async ask(email: string, { address }: Origin): Promise<void> {
    this.mails.requireServer();
    const senderId = clientKey(address);
    await this.transactions.run({ principal: senderId }, async (transaction) => {
      await this.codes.keepPlace(transaction, { purpose: 'password_reset', subject: email });
      const expiresAt = Date.now() + EMAIL_CODE_TTL_MS;
      await this.mails.enqueue(transaction, {
        kind: 'password_reset',
        recipient: email,
        senderId,
        expiresAt,
      });
    });
  }

  /** Hashes the password only after a right code. */
  async reset({ email, code, newPassword }: Reset, client: HashClient, origin: Origin): Promise<void> {
    const turn = { principal: client.key };
    const checked = await this.transactions.run(turn, (transaction) =>
      this.codes.check(transaction, ['password_reset', 'handed_out_reset'], email, code),
    );
    if (!checked) throw new InvalidEmailCodeError();
    const hash = await this.passwords.hash(newPassword, client);
    await this.transactions.run(turn, (transaction) =>
      this.resetIn(transaction, checked, hash, { kind: 'system', ...origin }),
    );
    await this.limits.apply();
  }

  private async resetIn(
    transaction: Transaction,
    code: EmailCode,
    hash: string,
    actor: Actor,
  ): Promise<void> {
    const { email, authEpoch } = code;
    const user = await this.users.findActiveIn(transaction, email);
    // The address may have another user since an operator issued the code for the one who had it.
    if (!user || user.id !== (code.userId ?? user.id)) throw new InvalidEmailCodeError();
    const { id } = user;
    if (code.handedOut === 0) await this.noteOwner(transaction, { id, email }, actor);
    if (!(await this.accounts.resetPassword(transaction, { id, email, authEpoch }, hash)))
      throw new InvalidEmailCodeError();
    if (!(await this.codes.use(transaction, code))) throw new InvalidEmailCodeError();
    await this.changes.complete(transaction, user, actor);
    await this.limits.lift(transaction, email);
  }

  /** The user at the mailbox owns the account. If its email was not verified before, a stranger may have set up the second factor. */
  private async noteOwner(
    transaction: Transaction,
    user: Pick<UserProfile, 'id' | 'email'>,
    actor: Actor,
  ): Promise<void> {
    if (!(await this.emails.verifyEmail(transaction, user.id, user.email))) return;
    await this.events.record(transaction, { type: 'account.email_verified', actor, userId: user.id });
    await this.secondFactors.byMailbox(transaction, user, actor);
  }
}
