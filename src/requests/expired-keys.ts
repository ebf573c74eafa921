import { Injectable, type OnModuleInit } from '@nestjs/common';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { BATCH, deleteFound } from '../database/batches.js';
import { CleanUpJobs } from '../clean-up/clean-up-jobs.js';

@Injectable()
export class ExpiredKeys implements OnModuleInit {
  constructor(
    private readonly keys: IdempotencyKeysRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add(async (now) =>
      deleteFound(await this.keys.findExpired(now, BATCH), (expired) => this.keys.delete(expired)),
    );
  }
}
