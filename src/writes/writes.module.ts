import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CareGuard } from './care.guard.js';
import { IdempotencyKey } from './idempotency-key.entity.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { RepeatedRequests } from './repeated-requests.js';
import { ReplayGuard } from './replay.guard.js';
import { Writes } from './writes.js';

const EXPORTED = [CareGuard, IdempotencyKeysRepository, RepeatedRequests, ReplayGuard, Writes];

@Module({
  imports: [TypeOrmModule.forFeature([IdempotencyKey])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class WritesModule {}
