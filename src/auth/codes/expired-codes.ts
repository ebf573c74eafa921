import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import type { Batch } from '../../jobs/batch.js';
import { CleanUpJobs } from '../../jobs/clean-up-jobs.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';

@Injectable()
export class ExpiredCodes implements OnModuleInit {
  constructor(
    private readonly codes: AuthorizationCodesRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.deleteBatch(now - LEEWAY_SECONDS * 1000));
  }

  async deleteBatch(before: number): Promise<Batch> {
    const hashes = await this.codes.findExpired(before);
    if (hashes.length > 0) await this.codes.delete(hashes);
    return { examined: hashes.length, deleted: hashes.length };
  }
}
