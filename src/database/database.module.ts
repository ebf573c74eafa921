import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Env } from '../config/env.js';
import { createDataSource } from './create-data-source.js';
import { dataSourceOptions } from './data-source-options.js';
import type { Schema } from './schema.js';
import { Transactions } from './transactions.js';

@Global()
@Module({})
export class DatabaseModule {
  static forRoot(schema: Schema): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Env],
          useFactory: async (env: Env) => ({ ...(await dataSourceOptions(env, schema)), retryAttempts: 0 }),
          dataSourceFactory: (options) => createDataSource(options!).initialize(),
        }),
      ],
      providers: [Transactions],
      exports: [Transactions],
    };
  }
}
