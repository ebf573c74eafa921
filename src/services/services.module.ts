import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ServiceCall, ServiceCallsRepository } from './service-calls.repository.js';
import { ServiceChanges } from './service-changes.js';
import { SecretUses, ServiceCredentials } from './service-credentials.js';
import { ServiceSecret, ServiceSecretsRepository } from './service-secrets.repository.js';
import { Service, ServicesRepository } from './services.repository.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Service, ServiceSecret, ServiceCall])],
  providers: [
    SecretUses,
    ServiceCallsRepository,
    ServiceChanges,
    ServiceCredentials,
    ServiceSecretsRepository,
    ServicesRepository,
  ],
  exports: [
    ServiceCallsRepository,
    ServiceChanges,
    ServiceCredentials,
    ServiceSecretsRepository,
    ServicesRepository,
  ],
})
export class ServicesModule {}
