import { type DynamicModule, Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { VerifiedTokens } from './access-token.js';
import { DiscoveryController } from './discovery.controller.js';
import { TokenVerifier } from './token-verifier.js';
import { KeyFileWatch } from './key-file-watch.js';
import { RefreshTokens } from './refresh-tokens.js';
import { KeyRing } from './signing-keys.js';
import { TokenIssuer } from './token-issuer.js';

const PROVIDERS = [KeyFileWatch, RefreshTokens, TokenIssuer, TokenVerifier, VerifiedTokens];

@Module({
  imports: [JwtModule.register({})],
  controllers: [DiscoveryController],
  providers: PROVIDERS,
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
