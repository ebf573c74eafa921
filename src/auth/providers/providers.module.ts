import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentitiesRepository, Identity } from './identities.repository.js';
import { ProviderChanges } from './provider-changes.js';
import { ProviderClient } from './provider-client.js';
import { ProviderDomain, ProviderDomainsRepository } from './provider-domains.repository.js';
import { ProviderLogin, ProviderLoginsRepository } from './provider-logins.repository.js';
import { Provider, ProvidersRepository } from './providers.repository.js';

const EXPORTED = [
  IdentitiesRepository,
  ProviderChanges,
  ProviderClient,
  ProviderDomainsRepository,
  ProviderLoginsRepository,
  ProvidersRepository,
];

/** Commands import this module, so nothing here serves routes. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Identity, Provider, ProviderDomain, ProviderLogin])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class ProvidersModule {}
