import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Transactions } from '../database/transactions/transactions.js';
import { type MailComposer, MailComposers, type MailText, type WaitingMail } from '../mail/mail-composers.js';
import type { Mail } from '../mail/mail.entity.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { KnownAddresses } from '../rate-limits/known-logins.js';
import { UsersRepository } from '../users/users.repository.js';
import { CodeMailLimit } from '../auth/email-codes/code-mail-limit.js';
import { EmailCodes } from '../auth/email-codes/email-codes.js';
import { CodeMails, type MailedCode } from './code-mails.js';

/** Limits of reset requests kept per email and search, high enough for every one that gets a code. */
const MAX_WAITING = 10;
const MAX_WAITING_OF_SENDER = 5;

/** Looks up users only when it composes, so that no request's time or answer depends on whether there is one. */
@Injectable()
export class ResetMails implements MailComposer, OnModuleInit {
  constructor(
    private readonly users: UsersRepository,
    private readonly codes: EmailCodes,
    private readonly codeMails: CodeMails,
    private readonly limit: CodeMailLimit,
    private readonly known: KnownAddresses,
    private readonly mails: MailsRepository,
    private readonly transactions: Transactions,
    private readonly composers: MailComposers,
  ) {}

  onModuleInit(): void {
    this.composers.register('password_reset', this);
  }

  async compose(mail: Mail): Promise<MailText | undefined> {
    const user = await this.users.findByEmail(mail.recipient);
    if (!user || user.disabledAt !== null) return undefined;
    const code = mail.codeId === null ? await this.issue(mail) : mail;
    return code && this.codeMails.textOf('password_reset', code);
  }

  /** Finds requests that get no code: those without an account, and the surplus of one email. */
  async findPointless(mails: readonly WaitingMail[]): Promise<string[]> {
    const resets = mails.filter(({ codeId }) => codeId === null);
    if (resets.length === 0) return [];
    const active = new Set(await this.users.findActiveEmails(resets.map(({ recipient }) => recipient)));
    const pointless: WaitingMail[] = [];
    for (const [email, requests] of Map.groupBy(resets, ({ recipient }) => recipient)) {
      pointless.push(...(active.has(email) ? await this.findSurplus(email, requests) : requests));
    }
    return pointless.map(({ id }) => id);
  }

  /** Strangers, however many, do not crowd out an address from which the user has logged in. */
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

  /** Issues one code for each mail: every attempt sends the same code. */
  private async issue({ id, recipient, senderId, expiresAt }: Mail): Promise<MailedCode | undefined> {
    const isKnown = senderId !== null && (await this.known.keysOf(recipient)).has(senderId);
    return this.transactions.run(async (transaction) => {
      // This locks the row, so that emails to one address are counted one after the other.
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
}
