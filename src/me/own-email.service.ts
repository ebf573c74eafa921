import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { UserPrincipal } from '../access/principal.js';
import { MailCodes } from '../auth/mail-codes/mail-codes.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { OwnPasswordService } from '../auth/passwords/own-password.service.js';
import { Transactions } from '../database/transactions.js';
import { Mails } from '../mail/mails.js';
import { type Credentials, UsersRepository } from '../users/users.repository.js';
import { CodeMailLimit } from '../auth/mail-codes/code-mail-limit.js';
import { EmailProofs } from '../auth/mail-codes/email-proofs.js';

interface EmailChange {
  email: string;
  /** the current password, normalized */
  password: string;
}

@Injectable()
export class OwnEmailService {
  constructor(
    private readonly users: UsersRepository,
    private readonly codes: MailCodes,
    private readonly proofs: EmailProofs,
    private readonly mails: Mails,
    private readonly limit: CodeMailLimit,
    private readonly passwords: OwnPasswordService,
    private readonly transactions: Transactions,
  ) {}

  /** @throws MailUnavailableError, RateLimitedError */
  async askForVerification({ id }: UserPrincipal): Promise<boolean> {
    this.mails.requireServer();
    const user = await this.users.findForProof(id);
    if (!user || user.emailVerifiedAt !== null) return false;
    await this.mailCode('email_verification', user.email, { id, authEpoch: user.authEpoch });
    return true;
  }

  /**
   * Does not tell whether the new e-mail is taken: its owner learns that by mail.
   * @throws MailUnavailableError, WrongPasswordError, InvalidTokenError, RateLimitedError
   */
  async askForChange(caller: UserPrincipal, change: EmailChange, client: HashClient): Promise<void> {
    this.mails.requireServer();
    const known = await this.passwords.verify(caller.id, change.password, client);
    if (change.email === known.email) return this.callOff(known);
    await this.mailCode('email_change', change.email, known, known.email);
  }

  async prove({ id }: UserPrincipal, code: string, actor: Actor): Promise<void> {
    await this.proofs.prove(id, code, actor);
  }

  private async mailCode(
    purpose: 'email_verification' | 'email_change',
    email: string,
    { id, authEpoch }: Pick<Credentials, 'id' | 'authEpoch'>,
    formerEmail?: string,
  ): Promise<void> {
    const turn = { principal: id, row: id };
    await this.transactions.run(async (transaction) => {
      const issued = await this.codes.issue(transaction, { purpose, subject: id, email, authEpoch });
      const mail = { kind: purpose, recipient: email, senderId: id };
      await this.limit.require(transaction, mail);
      await this.mails.enqueue(transaction, {
        ...mail,
        code: { id: issued.id, number: issued.codeNumber },
        expiresAt: issued.expiresAt,
      });
      if (formerEmail === undefined) return;
      const notice = { kind: 'email_change_asked', recipient: formerEmail, senderId: id } as const;
      await this.mails.notify(transaction, notice);
    }, turn);
  }

  /** Requesting the current e-mail cancels a pending change. */
  private async callOff({ id }: Credentials): Promise<void> {
    await this.transactions.run(
      (transaction) => this.codes.voidOne(transaction, { purpose: 'email_change', subject: id }),
      { principal: id, row: id },
    );
  }
}
