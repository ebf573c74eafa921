import { Injectable } from '@nestjs/common';
import type { Actor, UserActor, UserPrincipal } from '../access/principal.js';
import { EmailCodes } from '../auth/email-codes/email-codes.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { type OwnerProof, OwnerProofs } from '../auth/second-factor/owner-proofs.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { Transactions } from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import { type Credentials, UsersRepository } from '../users/users.repository.js';
import { EmailProofs } from '../accounts/email-proofs.js';

interface EmailChange extends OwnerProof {
  email: string;
}

@Injectable()
export class OwnEmailService {
  constructor(
    private readonly users: UsersRepository,
    private readonly codes: EmailCodes,
    private readonly proofs: EmailProofs,
    private readonly mails: Mails,
    private readonly owners: OwnerProofs,
    private readonly transactions: Transactions,
  ) {}

  /** @throws mail_unavailable, TooManyMailsError */
  async askForVerification({ id }: UserPrincipal): Promise<boolean> {
    this.mails.requireServer();
    const user = await this.users.findForProof(id);
    if (!user || user.emailVerifiedAt !== null) return false;
    const { email } = user;
    await this.transactions.run(turnOf(id), (transaction) =>
      this.emailCode(transaction, 'email_verification', email, user),
    );
    return true;
  }

  /**
   * Does not tell whether the new email is taken: its owner learns that by mail. Requesting the current email cancels a
   * pending change.
   * @throws mail_unavailable, wrong_password, InvalidSecondFactorCodeError, InvalidTokenError, TooManyMailsError
   */
  async askForChange(actor: UserActor, { email, ...proof }: EmailChange, client: HashClient): Promise<void> {
    this.mails.requireServer();
    const owner = await this.owners.verify(actor.id, proof, client);
    const { id, email: current } = owner.credentials;
    await this.transactions.run(turnOf(id), async (transaction) => {
      if (email === current) {
        await this.codes.voidOne(transaction, { purpose: 'email_change', subject: id });
      } else {
        await this.emailCode(transaction, 'email_change', email, owner.credentials);
        const notice = { kind: 'email_change_asked', recipient: current, senderId: id } as const;
        await this.mails.notify(transaction, notice);
      }
      await this.owners.use(transaction, owner, actor);
    });
  }

  async prove({ id }: UserPrincipal, code: string, actor: Actor): Promise<void> {
    await this.proofs.prove(id, code, actor);
  }

  private async emailCode(
    transaction: Transaction,
    purpose: 'email_verification' | 'email_change',
    email: string,
    { id, authEpoch }: Pick<Credentials, 'id' | 'authEpoch'>,
  ): Promise<void> {
    const issued = await this.codes.issue(transaction, { purpose, subject: id, email, authEpoch });
    await this.mails.enqueueWithinLimits(transaction, {
      kind: purpose,
      recipient: email,
      senderId: id,
      code: { id: issued.id, number: issued.codeNumber },
      expiresAt: issued.expiresAt,
    });
  }
}

const turnOf = (userId: string): { principal: string; row: string } => ({ principal: userId, row: userId });
