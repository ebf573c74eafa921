import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LastUses } from './last-uses.js';
import { ServiceCall, ServiceCallsRepository } from './service-calls.repository.js';
import { ServiceChanges } from './service-changes.js';
import { ServiceCredentials } from './service-credentials.js';
import { ServiceSecret, ServiceSecretsRepository } from './service-secrets.repository.js';
import { Service, ServicesRepository } from './services.repository.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Service, ServiceSecret, ServiceCall])],
  providers: [
    LastUses,
    ServiceCallsRepository,
    ServiceChanges,
    ServiceCredentials,
    ServiceSecretsRepository,
    ServicesRepository,
  ],
  exports: [
    LastUses,
    ServiceCallsRepository,
    ServiceChanges,
    ServiceCredentials,
    ServiceSecretsRepository,
    ServicesRepository,
  ],
})
export class ServicesModule {}
