import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { MailEndedError, MailNotFoundError } from './mail.errors.js';
import { MailsRepository } from './mails.repository.js';

/** Sends mails now that wait or have failed, for operators. */
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
