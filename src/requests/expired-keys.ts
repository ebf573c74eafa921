import { Injectable, type OnModuleInit } from '@nestjs/common';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { BATCH, type Batch } from '../jobs/batch.js';
import { CleanUpJobs } from '../jobs/clean-up-jobs.js';

@Injectable()
export class ExpiredKeys implements OnModuleInit {
  constructor(
    private readonly keys: IdempotencyKeysRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.deleteBatch(now));
  }

  async deleteBatch(now: number): Promise<Batch> {
    const expired = await this.keys.findExpired(now, BATCH);
    if (expired.length > 0) await this.keys.delete(expired);
    return { examined: expired.length, deleted: expired.length };
  }
}
