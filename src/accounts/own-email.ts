import { Injectable } from '@nestjs/common';
import type { UserActor } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { EmailCodes } from '../auth/email-codes/email-codes.js';
import { requireAcceptedDomain } from '../auth/registration-policy.js';
import { Env } from '../config/env.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { type OwnerProof, OwnerProofs } from '../auth/second-factor/owner-proofs.js';
import { type Transaction, Transactions, UNCHANGED } from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import { UserChanges } from '../users/user-changes.js';
import { type Credentials, UsersRepository } from '../users/users.repository.js';
import { Problem } from '../problems/problem.js';
import { EmailChanges } from './email-changes.js';

@Injectable()
export class OwnEmailService {
  constructor(
    private readonly users: UsersRepository,
    private readonly changes: UserChanges,
    private readonly emails: EmailChanges,
    private readonly codes: EmailCodesRepository,
    private readonly typedCodes: EmailCodes,
    private readonly mails: Mails,
    private readonly owners: OwnerProofs,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** Returns false if the email is verified. @throws MailUnavailableError, TooManyMailsError */
  async askForVerification(id: string): Promise<boolean> {
    this.mails.requireServer();
    const user = await this.users.findForProof(id);
    if (!user || user.emailVerifiedAt !== null) return false;
    await this.transactions.run({ principal: id, row: id }, (tx) =>
      this.emailCode(tx, 'email_verification', user.email, user),
    );
    return true;
  }

  /** Does not reveal whether the new email is taken: its owner gets an email. The current email cancels a change. */
  async askForChange(
    actor: UserActor,
    { email, ...proof }: OwnerProof & { email: string },
    client: HashClient,
  ): Promise<void> {
    this.mails.requireServer();
    const owner = await this.owners.verify(actor, proof, client);
    const { id, email: current } = owner.credentials;
    if (email !== current) requireAcceptedDomain(this.env, email);
    await this.transactions.run({ principal: id, row: id }, async (tx) => {
      if (email === current) {
        await this.codes.void(tx, { purpose: 'email_change', subject: id });
      } else {
        await this.emailCode(tx, 'email_change', email, owner.credentials);
        const notice = { kind: 'email_change_asked', recipient: current, senderId: id } as const;
        await this.mails.notify(tx, notice);
      }
      await this.owners.use(tx, owner, actor);
    });
  }

  async prove(actor: UserActor, typed: string): Promise<void> {
    const { id } = actor;
    const code = await this.transactions.run({ principal: id, row: id }, (tx) =>
      this.typedCodes.check(tx, ['email_verification', 'email_change'], id, typed),
    );
    if (!code) throw new Problem('invalid_email_code');
    const proven = await this.changes.inUser({ actor }, id, async (tx, user) => {
      const isCurrent = user.authEpoch === code.authEpoch && (await this.codes.use(tx, code));
      if (!isCurrent) return UNCHANGED;
      if (code.purpose === 'email_change') {
        requireAcceptedDomain(this.env, code.email);
        await this.emails.replace(tx, user, code.email, true);
        return user.record({ type: 'account.email_changed' });
      }
      if (user.email !== code.email) return UNCHANGED;
      return user.emailVerifiedAt === null ? this.emails.verify(tx, user) : undefined;
    });
    if (proven.kind !== 'done') throw new Problem('invalid_email_code');
  }

  private async emailCode(
    tx: Transaction,
    purpose: 'email_verification' | 'email_change',
    email: string,
    { id, authEpoch }: Pick<Credentials, 'id' | 'authEpoch'>,
  ): Promise<void> {
    const issued = await this.codes.issue(tx, { purpose, subject: id, email, authEpoch });
    await this.mails.enqueueWithinLimits(tx, {
      kind: purpose,
      recipient: email,
      senderId: id,
      code: { id: issued.id, number: issued.codeNumber },
      expiresAt: issued.expiresAt,
    });
  }
}
