import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';
import { type NoticeKind, waitMs } from './mail-budgets.js';
import type { MailKind } from './mail.entity.js';
import { MailUnavailableError } from './mail.errors.js';
import { MailLimitsRepository } from './mail-limits.repository.js';
import { nextTurn, priorityOf } from './mail-choice.js';
import { MailsRepository } from './mails.repository.js';

export interface NewMail {
  kind: MailKind;
  recipient: string;
  senderId: string;
  orgId?: string;
  /** identifies the code, which is derived when the mail is sent */
  code?: { id: string; number: number };
  /** epoch milliseconds after which the mail is not sent */
  expiresAt?: number;
}

interface Notice {
  kind: NoticeKind;
  recipient: string;
  /** id of the user whom the notice is for */
  senderId: string;
}

const DELAYED_AFTER_MS = 600_000;
const DAY_MS = 86_400_000;
/** length of the column; ids and keys of addresses fit into it */
const MAX_SENDER_LENGTH = 36;

@Injectable()
export class Mails {
  constructor(
    private readonly mails: MailsRepository,
    private readonly limits: MailLimitsRepository,
    private readonly emails: UserEmailsRepository,
    private readonly env: Env,
  ) {}

  requireServer(): void {
    if (!this.env.smtp) throw new MailUnavailableError();
  }

  /** Tells whether an email waits for longer than a passing fault explains. */
  async areDelayed(): Promise<boolean> {
    return this.env.smtp !== undefined && (await this.mails.hasWaitedSince(Date.now() - DELAYED_AFTER_MS));
  }

  /** Sends the mail if, and only if, the transaction commits. Does nothing without an SMTP server. */
  async enqueue(
    transaction: Transaction,
    { kind, recipient, senderId: sender, orgId, code, expiresAt }: NewMail,
  ): Promise<void> {
    if (!this.env.smtp) return;
    const now = Date.now();
    const senderId = sender.slice(0, MAX_SENDER_LENGTH);
    const priority = priorityOf(kind);
    const lastTurn = await this.mails.findLastTurn(transaction, senderId, priority);
    await this.mails.insert(transaction, {
      id: newEntityId(),
      kind,
      recipient,
      codeId: code?.id ?? null,
      codeNumber: code?.number ?? null,
      orgId: orgId ?? null,
      senderId,
      state: 'waiting',
      createdAt: now,
      nextAttemptAt: 0,
      priority,
      turnAt: nextTurn(lastTurn, now),
      attempts: 0,
      expiresAt: expiresAt ?? null,
      endedAt: null,
      lastError: null,
    });
  }

  /**
   * Sends no notice beyond the budget: the ones before it have told the same. Sends none either to an address that is not the
   * user's verified email, since it may be the address of a person who has no account. Call it before the email changes.
   */
  async notify(transaction: Transaction, notice: Notice): Promise<void> {
    if (!this.env.smtp) return;
    if (!(await this.emails.isVerified(transaction, notice.senderId, notice.recipient))) return;
    const now = Date.now();
    const counts = await this.limits.count(transaction, notice, now - DAY_MS);
    if (waitMs(notice.kind, counts, now) === 0) await this.enqueue(transaction, notice);
  }
}
