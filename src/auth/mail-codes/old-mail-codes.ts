import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BATCH, deleteFound } from '../../jobs/batch.js';
import { CleanUpJobs } from '../../jobs/clean-up-jobs.js';
import { MailCodesRepository } from './mail-codes.repository.js';

@Injectable()
export class OldMailCodes implements OnModuleInit {
  constructor(
    private readonly codes: MailCodesRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add(async (now) =>
      deleteFound(await this.codes.findOld(now, BATCH), (ids) => this.codes.purge(ids)),
    );
  }
}
