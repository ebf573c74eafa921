import { Injectable } from '@nestjs/common';
import type { MailCodePurpose } from '../auth/mail-codes/mail-code.entity.js';
import { readable } from '../auth/mail-codes/mail-code-text.js';
import { MailCodes } from '../auth/mail-codes/mail-codes.js';
import { Transactions } from '../database/transactions.js';
import { MailComposer, type MailText, type WaitingMail } from '../mail/mail-composer.js';
import type { Mail } from '../mail/mail.entity.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationMails } from '../orgs/invitations/invitation-mails.js';
import { KnownAddresses } from '../rate-limits/known-addresses.js';
import { UsersRepository } from '../users/users.repository.js';
import { CodeMailLimit } from '../auth/mail-codes/code-mail-limit.js';

type CodeMail = Pick<Mail, 'codeId' | 'codeNumber'>;

/** Limits of reset requests kept per e-mail and search, high enough for every one that gets a code. */
const MAX_WAITING = 10;
const MAX_WAITING_OF_SENDER = 5;

/** Looks up accounts only when it composes, so that no request's time or answer depends on whether there is one. */
@Injectable()
export class AccountMailComposer extends MailComposer {
  constructor(
    private readonly users: UsersRepository,
    private readonly codes: MailCodes,
    private readonly limit: CodeMailLimit,
    private readonly known: KnownAddresses,
    private readonly mails: MailsRepository,
    private readonly transactions: Transactions,
    private readonly invitations: InvitationMails,
  ) {
    super();
  }

  async compose(mail: Mail): Promise<MailText | undefined> {
    if (mail.kind === 'invitation') return this.invitations.compose(mail);
    if (mail.kind === 'password_reset') return this.composeReset(mail);
    if (mail.kind !== 'email_verification' && mail.kind !== 'email_change') return { template: mail.kind };
    const { kind, recipient, senderId } = mail;
    if (await this.limit.isBeyond(mail, { kind, recipient, senderId })) return undefined;
    const isTaken = kind === 'email_change' && (await this.users.findByEmail(recipient)) !== null;
    return isTaken ? { template: 'email_taken' } : this.withCode(kind, mail);
  }

  /** Finds reset requests that get no code: those without an account, and the surplus of one e-mail. */
  async findPointless(mails: readonly WaitingMail[]): Promise<string[]> {
    const resets = mails.filter(({ kind, codeId }) => kind === 'password_reset' && codeId === null);
    if (resets.length === 0) return [];
    const active = new Set(await this.users.findActiveEmails(resets.map(({ recipient }) => recipient)));
    const pointless: WaitingMail[] = [];
    for (const [email, requests] of Map.groupBy(resets, ({ recipient }) => recipient)) {
      pointless.push(...(active.has(email) ? await this.findSurplus(email, requests) : requests));
    }
    return pointless.map(({ id }) => id);
  }

  /** Strangers, however many, do not crowd out an address from which the account has logged in. */
  private async findSurplus(email: string, requests: readonly WaitingMail[]): Promise<WaitingMail[]> {
    if (requests.length <= MAX_WAITING_OF_SENDER) return [];
    const known = await this.known.keysOf(email);
    const bySender = new Map<string | null, number>();
    let strangers = 0;
    return requests.filter(({ senderId }) => {
      const count = (bySender.get(senderId) ?? 0) + 1;
      bySender.set(senderId, count);
      if (count > MAX_WAITING_OF_SENDER) return true;
      if (senderId !== null && known.has(senderId)) return false;
      strangers += 1;
      return strangers > MAX_WAITING;
    });
  }

  private async composeReset(mail: Mail): Promise<MailText | undefined> {
    const account = await this.users.findByEmail(mail.recipient);
    if (!account || account.disabledAt !== null) return undefined;
    const code = mail.codeId === null ? await this.issueReset(mail) : mail;
    return code && this.withCode('password_reset', code);
  }

  /** Issues one code for each mail: every attempt sends the same code. */
  private async issueReset({ id, recipient, senderId, expiresAt }: Mail): Promise<CodeMail | undefined> {
    const isKnown = senderId !== null && (await this.known.keysOf(recipient)).has(senderId);
    return this.transactions.run(async (transaction) => {
      // This locks the row, so that mails to one address are counted one after the other.
      await this.codes.keepPlace(transaction, { purpose: 'password_reset', subject: recipient });
      const request = { kind: 'password_reset', recipient, senderId } as const;
      if (await this.limit.isReached(transaction, request, isKnown)) return undefined;
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
