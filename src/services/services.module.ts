import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { SecretUses, ServiceCredentials } from './service-credentials.js';
import { ServiceChanges } from './service-changes.js';
import { Service, ServiceSecret } from './service.entity.js';
import { ServiceSecretsRepository } from './service-secrets.repository.js';
import { ServicesRepository } from './services.repository.js';

@Module({
  imports: [EventsModule, TypeOrmModule.forFeature([Service, ServiceSecret])],
  providers: [SecretUses, ServiceChanges, ServiceCredentials, ServiceSecretsRepository, ServicesRepository],
  exports: [ServiceChanges, ServiceCredentials, ServiceSecretsRepository, ServicesRepository],
})
export class ServicesModule {}
