import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WriteControlsGuard } from './write.js';
import { IdempotencyKey, IdempotencyKeysRepository } from './idempotency-keys.repository.js';

import { ReplayGuard, Writes } from './writes.js';

const EXPORTED = [WriteControlsGuard, IdempotencyKeysRepository, ReplayGuard, Writes];

@Module({
  imports: [TypeOrmModule.forFeature([IdempotencyKey])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class RequestsModule {}
