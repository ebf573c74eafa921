import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdempotencyKey, IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { WriteControlsGuard } from './write-controls.js';
import { ReplayGuard, Writes } from './writes.js';

const EXPORTED = [WriteControlsGuard, IdempotencyKeysRepository, ReplayGuard, Writes];

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([IdempotencyKey])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class RequestsModule {}
