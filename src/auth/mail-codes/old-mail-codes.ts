import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BATCH, type Batch } from '../../jobs/batch.js';
import { CleanUpJobs } from '../../jobs/clean-up-jobs.js';
import { MailCodesRepository } from './mail-codes.repository.js';

@Injectable()
export class OldMailCodes implements OnModuleInit {
  constructor(
    private readonly codes: MailCodesRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.deleteBatch(now));
  }

  private async deleteBatch(now: number): Promise<Batch> {
    const ids = await this.codes.findOld(now, BATCH);
    if (ids.length > 0) await this.codes.purge(ids);
    return { examined: ids.length, deleted: ids.length };
  }
}
