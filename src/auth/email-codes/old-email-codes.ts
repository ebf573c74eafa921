import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BATCH, deleteFound } from '../../database/batches.js';
import { CleanUpJobs } from '../../clean-up/clean-up-jobs.js';
import { EmailCodesRepository } from './email-codes.repository.js';

@Injectable()
export class OldEmailCodes implements OnModuleInit {
  constructor(
    private readonly codes: EmailCodesRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add(async (now) =>
      deleteFound(await this.codes.findOld(now, BATCH), (ids) => this.codes.purge(ids)),
    );
  }
}
