import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../clean-up/jobs.module.js';
import { WriteControlsGuard } from './write.js';
import { ExpiredKeys } from './expired-keys.js';
import { IdempotencyKey } from './idempotency-key.entity.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

import { ReplayGuard, Writes } from './writes.js';

const EXPORTED = [WriteControlsGuard, IdempotencyKeysRepository, ReplayGuard, Writes];

@Module({
  imports: [JobsModule, TypeOrmModule.forFeature([IdempotencyKey])],
  providers: [...EXPORTED, ExpiredKeys],
  exports: EXPORTED,
})
export class RequestsModule {}
