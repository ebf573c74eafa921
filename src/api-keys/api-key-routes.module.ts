import { Module } from '@nestjs/common';
import { MembersModule } from '../orgs/members/members.module.js';
import { ApiKeyRevocations } from './api-key-revocations.js';
import { ApiKeysService } from './api-keys.service.js';
import { FoundApiKeysController, OrgApiKeysController, OwnApiKeysController } from './api-keys.controller.js';

/** Apart from the repository, which commands use without these routes. */
@Module({
  imports: [MembersModule],
  controllers: [FoundApiKeysController, OrgApiKeysController, OwnApiKeysController],
  providers: [ApiKeyRevocations, ApiKeysService],
  exports: [ApiKeyRevocations],
})
export class ApiKeyRoutesModule {}
