import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import type { Mail } from '../mail/mail.entity.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { RateLimitedError } from '../rate-limits/rate-limits.errors.js';

export const MAX_CODES_A_DAY = 10;
const DAY_MS = 86_400_000;
const RETRY_AFTER_SECONDS = 3600;

/** However many ask, nobody's mailbox gets more codes than that. */
@Injectable()
export class CodeMailLimit {
  constructor(private readonly mails: MailsRepository) {}

  async isReached(transaction: Transaction, recipient: string): Promise<boolean> {
    return (await this.mails.countCodes(transaction, recipient, Date.now() - DAY_MS)) >= MAX_CODES_A_DAY;
  }

  /** What requests at the same moment have put there beyond the limit. */
  async isBeyond(mail: Mail): Promise<boolean> {
    return (await this.mails.countCodesBefore(mail, Date.now() - DAY_MS)) >= MAX_CODES_A_DAY;
  }

  /** @throws RateLimitedError */
  async require(transaction: Transaction, recipient: string): Promise<void> {
    if (!(await this.isReached(transaction, recipient))) return;
    throw new RateLimitedError('Too many mails to this e-mail today; try again later.', RETRY_AFTER_SECONDS);
  }
}
