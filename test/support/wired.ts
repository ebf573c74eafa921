import { type INestApplicationContext, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { loadKeyFile } from '../../src/auth/tokens/key-file.js';
import { AuthModule } from '../../src/auth/auth.module.js';
import { KeyRing } from '../../src/auth/tokens/signing-keys.js';
import { TokensModule } from '../../src/auth/tokens/tokens.module.js';
import { ConfigModule } from '../../src/config/config.module.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import type { DataLayer } from './data-source.js';

@Module({})
class Wired {}

/** The classes of these modules, wired as in the service, on the data of the test. */
export function wired(
  { env, dataSource }: Pick<DataLayer, 'env' | 'dataSource'>,
  ...modules: Type[]
): Promise<INestApplicationContext> {
  const keys = new KeyRing(loadKeyFile(env.jwtKeysFile, true));
  const imports = [
    ConfigModule.forRoot(env),
    DatabaseModule.forDataSource(dataSource),
    TokensModule.forRoot(keys),
    AuthModule,
    ...modules,
  ];
  return NestFactory.createApplicationContext(
    { module: Wired, imports },
    { logger: false, abortOnError: false },
  );
}
