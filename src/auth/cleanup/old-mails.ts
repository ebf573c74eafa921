import { Injectable } from '@nestjs/common';
import { MAIL_STATES } from '../../mail/mail.entity.js';
import { MailsRepository } from '../../mail/mails.repository.js';
import { MailCodesRepository } from '../mail-codes/mail-codes.repository.js';
import { BATCH, type Batch } from './batch.js';

/** Mails are kept for longer than the day over which those to one address are counted. */
const MAIL_RETENTION_MS = 7 * 86_400_000;

@Injectable()
export class OldMails {
  constructor(
    private readonly mails: MailsRepository,
    private readonly codes: MailCodesRepository,
  ) {}

  async deleteBatch(now: number): Promise<Batch> {
    const ended = MAIL_STATES.filter((state) => state !== 'waiting');
    const found = await Promise.all(
      ended.map((state) => this.mails.findEndedBefore(state, now - MAIL_RETENTION_MS, BATCH)),
    );
    const ids = found.flat();
    if (ids.length > 0) await this.mails.delete(ids);
    return { examined: Math.max(...found.map(({ length }) => length)), deleted: ids.length };
  }

  async deleteCodes(now: number): Promise<Batch> {
    const ids = await this.codes.findOld(now, BATCH);
    if (ids.length > 0) await this.codes.purge(ids);
    return { examined: ids.length, deleted: ids.length };
  }
}
