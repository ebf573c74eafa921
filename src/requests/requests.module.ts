import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CareGuard } from './care.guard.js';
import { ExpiredKeys } from './expired-keys.js';
import { IdempotencyKey } from './idempotency-key.entity.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { RepeatedRequests } from './repeated-requests.js';
import { ReplayGuard } from './replay.guard.js';
import { Writes } from './writes.js';

const EXPORTED = [CareGuard, IdempotencyKeysRepository, RepeatedRequests, ReplayGuard, Writes];
import { JobsModule } from '../jobs/jobs.module.js';

@Module({
  imports: [JobsModule, TypeOrmModule.forFeature([IdempotencyKey])],
  providers: [...EXPORTED, ExpiredKeys],
  exports: EXPORTED,
})
export class RequestsModule {}
