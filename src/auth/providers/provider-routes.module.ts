import { Module } from '@nestjs/common';
import { LoginsModule } from '../logins/logins.module.js';
import { ProviderLoginFinish } from './provider-login-finish.js';
import { ProviderLoginsController } from './provider-logins.controller.js';
import { ProviderLoginsService } from './provider-logins.service.js';

/** Apart from the repositories, which commands use without these routes and the signing keys. */
@Module({
  imports: [LoginsModule],
  controllers: [ProviderLoginsController],
  providers: [ProviderLoginFinish, ProviderLoginsService],
})
export class ProviderRoutesModule {}
