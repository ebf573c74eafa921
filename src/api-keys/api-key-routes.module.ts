import { Module } from '@nestjs/common';
import { ApiKeysService } from './api-keys.service.js';
import { FoundApiKeysController, OwnApiKeysController } from './api-keys.controller.js';

/** Apart from the repository, which commands use without these routes. */
@Module({
  controllers: [FoundApiKeysController, OwnApiKeysController],
  providers: [ApiKeysService],
})
export class ApiKeyRoutesModule {}
