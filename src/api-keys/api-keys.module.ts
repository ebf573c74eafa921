import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyListsRepository } from './api-keys.lists.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { LiveKeys } from './live-keys.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey])],
  providers: [ApiKeyListsRepository, ApiKeysRepository, LiveKeys],
  exports: [ApiKeyListsRepository, ApiKeysRepository, LiveKeys],
})
export class ApiKeysModule {}
