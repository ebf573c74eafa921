import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transaction.js';
import { newEntityId } from '../identifiers/entity-id.js';
import type { MailKind } from './mail.entity.js';
import { MailUnavailableError } from './mail.errors.js';
import { MailsRepository } from './mails.repository.js';

export interface NewMail {
  kind: MailKind;
  /** canonical */
  recipient: string;
  /** whose invitation it is */
  invitation?: { orgId: string; senderId: string };
  /** to mail; it is derived when it is sent */
  code?: { id: string; number: number };
  /** epoch milliseconds, after which nobody wants it */
  expiresAt?: number;
}

const DELAYED_AFTER_MS = 600_000;

/** Takes mails, which are sent in the background. */
@Injectable()
export class Mails {
  constructor(
    private readonly mails: MailsRepository,
    private readonly env: Env,
  ) {}

  /** @throws MailUnavailableError without an SMTP server */
  requireServer(): void {
    if (!this.env.smtp) throw new MailUnavailableError();
  }

  /** Whether one waits for longer than a passing fault explains. */
  async areDelayed(): Promise<boolean> {
    return this.env.smtp !== undefined && (await this.mails.hasWaitedSince(Date.now() - DELAYED_AFTER_MS));
  }

  /** Sent if, and only if, the transaction commits. Does nothing without an SMTP server. */
  async enqueue(
    transaction: Transaction,
    { kind, recipient, code, expiresAt, invitation }: NewMail,
  ): Promise<void> {
    if (!this.env.smtp) return;
    const now = Date.now();
    await this.mails.insert(transaction, {
      id: newEntityId(),
      kind,
      recipient,
      codeId: code?.id ?? null,
      codeNumber: code?.number ?? null,
      orgId: invitation?.orgId ?? null,
      senderId: invitation?.senderId ?? null,
      state: 'waiting',
      createdAt: now,
      nextAttemptAt: now,
      attempts: 0,
      expiresAt: expiresAt ?? null,
      endedAt: null,
      lastError: null,
    });
  }
}
