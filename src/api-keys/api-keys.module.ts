import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey, ApiKeysRepository } from './api-keys.repository.js';
import { LiveKeys } from './live-keys.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey])],
  providers: [ApiKeysRepository, LiveKeys],
  exports: [ApiKeysRepository, LiveKeys],
})
export class ApiKeysModule {}
