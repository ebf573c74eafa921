import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyListsRepository } from './api-keys.lists.js';
import { ApiKeysRepository } from './api-keys.repository.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey])],
  providers: [ApiKeyListsRepository, ApiKeysRepository],
  exports: [ApiKeyListsRepository, ApiKeysRepository],
})
export class ApiKeysModule {}
