import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleAsyncOptions } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Env } from '../config/env.js';
import { createDataSource, dataSourceOptions, type Schema } from './data-source.js';
import { Transactions } from './transactions/transactions.js';

@Global()
@Module({})
export class DatabaseModule {
  static forRoot(schema: Schema): DynamicModule {
    return withDataSource({
      inject: [Env],
      useFactory: async (env: Env) => ({ ...(await dataSourceOptions(env, schema)), retryAttempts: 0 }),
      dataSourceFactory: (options) => createDataSource(options!).initialize(),
    });
  }

  static forDataSource(dataSource: DataSource): DynamicModule {
    return withDataSource({
      useFactory: () => ({ ...dataSource.options, retryAttempts: 0 }),
      dataSourceFactory: () => Promise.resolve(dataSource),
    });
  }
}

function withDataSource(options: TypeOrmModuleAsyncOptions): DynamicModule {
  return {
    module: DatabaseModule,
    imports: [TypeOrmModule.forRootAsync(options)],
    providers: [Transactions],
    exports: [Transactions],
  };
}
