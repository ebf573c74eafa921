import { Injectable } from '@nestjs/common';
import type { MailCodePurpose } from '../auth/mail-codes/mail-code.entity.js';
import { readable } from '../auth/mail-codes/mail-code-text.js';
import { MailCodes } from '../auth/mail-codes/mail-codes.js';
import { Transactions } from '../database/transactions.js';
import { MailComposer, type MailText, type WaitingMail } from '../mail/mail-composer.js';
import type { Mail } from '../mail/mail.entity.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationMails } from '../memberships/invitation-mails.js';
import { AccountRepository } from '../users/account.repository.js';
import { CodeMailLimit, MAX_CODES_A_DAY } from './code-mail-limit.js';

type CodeMail = Pick<Mail, 'codeId' | 'codeNumber'>;

/**
 * Looks at the accounts when it composes, so that no request takes longer, or answers otherwise, because there is
 * an account.
 */
@Injectable()
export class AccountMailComposer extends MailComposer {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly codes: MailCodes,
    private readonly limit: CodeMailLimit,
    private readonly mails: MailsRepository,
    private readonly transactions: Transactions,
    private readonly invitations: InvitationMails,
  ) {
    super();
  }

  async compose(mail: Mail): Promise<MailText | undefined> {
    if (mail.kind === 'invitation') return this.invitations.compose(mail);
    if (mail.kind === 'password_reset') return this.composeReset(mail);
    if (mail.codeId !== null && (await this.limit.isBeyond(mail))) return undefined;
    if (mail.kind === 'email_verification') return this.withCode(mail.kind, mail);
    if (mail.kind === 'email_change') {
      const isTaken = (await this.accounts.findByEmail(mail.recipient)) !== null;
      return isTaken ? { template: 'email_taken' } : this.withCode(mail.kind, mail);
    }
    return { template: mail.kind };
  }

  /** Requests for a new password where there is no account, and more of one e-mail than it gets codes in a day. */
  async findPointless(mails: readonly WaitingMail[]): Promise<string[]> {
    const resets = mails.filter(({ kind, codeId }) => kind === 'password_reset' && codeId === null);
    if (resets.length === 0) return [];
    const active = await this.accounts.findActiveEmails(resets.map(({ recipient }) => recipient));
    const left = new Map(active.map((email) => [email, MAX_CODES_A_DAY]));
    const isPointless = ({ recipient }: WaitingMail): boolean => {
      const count = left.get(recipient) ?? 0;
      left.set(recipient, count - 1);
      return count <= 0;
    };
    return resets.filter(isPointless).map(({ id }) => id);
  }

  private async composeReset(mail: Mail): Promise<MailText | undefined> {
    const account = await this.accounts.findByEmail(mail.recipient);
    if (!account || account.disabledAt !== null) return undefined;
    const code = mail.codeId === null ? await this.issueReset(mail) : mail;
    return code && this.withCode('password_reset', code);
  }

  /** Once for each mail: every attempt sends the same code. */
  private issueReset({ id, recipient, expiresAt }: Mail): Promise<CodeMail | undefined> {
    return this.transactions.run(async (transaction) => {
      if (await this.limit.isReached(transaction, recipient)) return undefined;
      const code = await this.codes.issue(transaction, {
        purpose: 'password_reset',
        subject: recipient,
        email: recipient,
        ...(expiresAt !== null && { expiresAt }),
      });
      await this.mails.setCode(transaction, id, code.id, code.codeNumber);
      return { codeId: code.id, codeNumber: code.codeNumber };
    });
  }

  /** A void code is not mailed. */
  private async withCode(
    purpose: MailCodePurpose,
    { codeId, codeNumber }: CodeMail,
  ): Promise<MailText | undefined> {
    if (codeId === null || codeNumber === null) return undefined;
    const code = { id: codeId, purpose, codeNumber };
    if (!(await this.codes.isCurrent(code))) return undefined;
    return { template: purpose, code: readable(this.codes.textOf(code)) };
  }
}
