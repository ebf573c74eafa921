import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MAIL_STATES } from './mail.entity.js';
import { MailsRepository } from './mails.repository.js';
import { BATCH, type Batch } from '../database/batches.js';
import { CleanUpJobs } from '../clean-up/clean-up-jobs.js';

/** Longer than the day over which those to one address are counted, and short enough that no old notice alarms anybody. */
const MAIL_RETENTION_MS = 7 * 86_400_000;

@Injectable()
export class OldMails implements OnModuleInit {
  constructor(
    private readonly mails: MailsRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.deleteBatch(now));
  }

  async deleteBatch(now: number): Promise<Batch> {
    const found = await Promise.all(
      MAIL_STATES.map((state) => this.mails.findBefore(state, now - MAIL_RETENTION_MS, BATCH)),
    );
    const ids = found.flat();
    if (ids.length > 0) await this.mails.delete(ids);
    return { examined: Math.max(...found.map(({ length }) => length)), deleted: ids.length };
  }
}
