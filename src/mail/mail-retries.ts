import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { Transactions } from '../database/transactions/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { MailEndedError, MailNotFoundError } from './mail.errors.js';
import { MailsRepository } from './mails.repository.js';

const FIRST_PAUSES_MS = [1000, 5000, 30_000, 120_000, 600_000];
const HOUR_MS = 3_600_000;
const MAX_HOURLY = 24;

/** Returns how long to wait after this many failed attempts; undefined to give up. */
export function retryAfterMs(attempts: number): number | undefined {
  const first = FIRST_PAUSES_MS[attempts - 1];
  if (first !== undefined) return first;
  return attempts <= FIRST_PAUSES_MS.length + MAX_HOURLY ? HOUR_MS : undefined;
}

/** Sends emails now that wait or have failed, for operators. */
@Injectable()
export class MailRetries {
  constructor(
    private readonly mails: MailsRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** `OperatedMails` looks before whether the mail is still of use. @throws MailNotFoundError, MailEndedError */
  async retryOne(id: string, actor: Actor): Promise<void> {
    const isDue = await this.transactions.run(async (transaction) => {
      if (!(await this.mails.retry(transaction, id, Date.now()))) return false;
      await this.events.record(transaction, { type: 'mail.retried', actor, data: { mailId: id } });
      return true;
    });
    if (isDue) return;
    const mail = await this.mails.find(id);
    throw mail ? new MailEndedError(mail.state) : new MailNotFoundError();
  }

  /** Returns how many there are. */
  retryFailed(actor: Actor): Promise<number> {
    return this.transactions.run(async (transaction) => {
      const retried = await this.mails.retryFailed(transaction, Date.now());
      if (retried > 0)
        await this.events.record(transaction, { type: 'mail.retried', actor, data: { all: true } });
      return retried;
    });
  }
}
