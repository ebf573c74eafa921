import { type DynamicModule, Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { VerifiedTokens } from './access-token.js';
import { DiscoveryController } from './discovery.controller.js';
import { JwtStrategy } from './jwt.strategy.js';
import { Instance, InstancesRepository } from './instances.repository.js';
import { KeyFileWatch } from './key-file-watch.js';
import { Heartbeat } from './heartbeat.js';
import { TokenIssuer } from './token-issuer.js';
import { KeyRing } from './signing-keys.js';

const PROVIDERS = [JwtStrategy, KeyFileWatch, Heartbeat, TokenIssuer, VerifiedTokens];

@Module({
  imports: [JwtModule.register({}), PassportModule, TypeOrmModule.forFeature([Instance])],
  controllers: [DiscoveryController],
  providers: [...PROVIDERS, InstancesRepository],
  exports: PROVIDERS,
})
export class TokensModule {
  static forRoot(keys: KeyRing): DynamicModule {
    return {
      module: TokensModule,
      global: true,
      providers: [{ provide: KeyRing, useValue: keys }],
      exports: [KeyRing],
    };
  }
}
