import { Injectable } from '@nestjs/common';
import { Problem, RefusedError } from '../problems/problem.js';
import { type MailKind, type NoticeKind } from './mail.entity.js';
import { type Excess, priorityOf } from './mails.limits.js';
import { type Actor, principalOf } from '../access/principal.js';
import { Env } from '../config/env.js';
import { BATCH, type Batch, deleteFound } from '../database/statements.js';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { MailsRepository } from './mails.repository.js';

export class TooManyMailsError extends Problem {
  constructor(kind: MailKind, { waitMs, refusal }: Excess) {
    super('rate_limited', {
      detail: refusal,
      headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
      limit: `mail-${kind.replaceAll('_', '-')}`,
    });
  }
}

export interface NewMail {
  kind: MailKind;
  recipient: string;
  senderId: string;
  orgId?: string;
  code?: { id: string; number: number };
  expiresAt?: number;
  details?: string;
}

type Notice = Pick<NewMail, 'recipient' | 'senderId' | 'details'> & { kind: NoticeKind | 'new_sign_in' };

const DELAYED_AFTER_MS = 600_000;
const TURN_MS = 60_000;
const RETENTION_MS = 7 * 86_400_000;
const MAX_SENDER_LENGTH = 36;

@Injectable()
export class Mails {
  constructor(
    private readonly mails: MailsRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  requireServer(): void {
    if (!this.env.smtp) throw new Problem('mail_unavailable');
  }

  async areDelayed(): Promise<boolean> {
    return this.env.smtp !== undefined && (await this.mails.hasWaitedSince(Date.now() - DELAYED_AFTER_MS));
  }

  /** Accounts sends the email if, and only if, the transaction commits. Does nothing without an SMTP server. */
  async enqueue(tx: Transaction, mail: NewMail): Promise<void> {
    if (!this.env.smtp) return;
    const { kind, recipient, orgId = null, code, expiresAt = null, details = null } = mail;
    const now = Date.now();
    const senderId = mail.senderId.slice(0, MAX_SENDER_LENGTH);
    const priority = priorityOf(kind);
    const lastTurn = await this.mails.findLastTurn(tx, senderId, priority);
    await this.mails.insert(tx, {
      id: newEntityId(),
      kind,
      recipient,
      codeId: code?.id ?? null,
      codeNumber: code?.number ?? null,
      orgId,
      senderId,
      state: 'waiting',
      createdAt: now,
      nextAttemptAt: 0,
      priority,
      turnAt: nextTurn(lastTurn, now),
      attempts: 0,
      expiresAt,
      endedAt: null,
      lastError: null,
      details,
    });
  }

  async enqueueWithinLimits(tx: Transaction, mail: NewMail): Promise<void> {
    const excess = await this.mails.findExcess(tx, { orgId: null, ...mail });
    if (excess) throw new TooManyMailsError(mail.kind, excess);
    await this.enqueue(tx, mail);
  }

  /** Skips an unverified email, which may be another person's. Call it before the email changes. */
  async notify(tx: Transaction, notice: Notice): Promise<void> {
    if (!this.env.smtp) return;
    if (!(await this.mails.isVerified(tx, notice.senderId, notice.recipient))) return;
    const excess = await this.mails.findExcess(tx, { orgId: null, ...notice });
    if (!excess) await this.enqueue(tx, notice);
  }

  async deleteOld(now: number): Promise<Batch> {
    return deleteFound(await this.mails.findBefore(now - RETENTION_MS, BATCH), (ids) =>
      this.mails.delete(ids),
    );
  }

  async retryOne(id: string, actor: Actor): Promise<void> {
    const isDue = await this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      if (!(await this.mails.retry(tx, id, Date.now()))) return false;
      await this.events.record(tx, { type: 'mail.retried', actor, data: { mailId: id } });
      return true;
    });
    if (isDue) return;
    const mail = await this.mails.find(id);
    if (!mail) throw new RefusedError('there is no such email', 'mail_not_found');
    const end = mail.state === 'failed' || mail.state === 'waiting' ? 'expired' : mail.state;
    throw new RefusedError(`the email is ${end}`, 'mail_ended');
  }

  retryFailed(actor: Actor): Promise<number> {
    return this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      const retried = await this.mails.retryFailed(tx, Date.now());
      if (retried > 0) {
        await this.events.record(tx, { type: 'mail.retried', actor, data: { all: true } });
      }
      return retried;
    });
  }
}

/** Returns epoch milliseconds, a minute after the sender's last waiting email. Turns set the order; they delay nothing. */
export function nextTurn(lastWaiting: number | undefined, now: number): number {
  return lastWaiting === undefined ? now : Math.max(now, lastWaiting + TURN_MS);
}
