import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { deleteFound } from '../../jobs/batch.js';
import { CleanUpJobs } from '../../jobs/clean-up-jobs.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';

@Injectable()
export class ExpiredCodes implements OnModuleInit {
  constructor(
    private readonly codes: AuthorizationCodesRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add(async (now) => {
      const hashes = await this.codes.findExpired(now - LEEWAY_SECONDS * 1000);
      return deleteFound(hashes, (found) => this.codes.delete(found));
    });
  }
}
