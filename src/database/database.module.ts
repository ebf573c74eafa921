import { DataSource, type DataSourceOptions } from 'typeorm';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleAsyncOptions } from '@nestjs/typeorm';
import { Env } from '../config/env.js';
import type { ConnectionPurpose } from './transactions/database-errors.js';
import { installMysqlQueryRunner } from './mysql/mysql-query-runner.js';
import { installSqliteQueryRunner } from './sqlite/sqlite-query-runner.js';
import { Transactions } from './transactions/transactions.js';
import { onceReachable } from './once-reachable.js';

export type DatabaseSchema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

export async function dataSourceOptions(
  { database, databasePoolSize }: Env,
  schema: DatabaseSchema,
  purpose: ConnectionPurpose = 'requests',
): Promise<DataSourceOptions> {
  if (database.engine === 'sqlite') {
    const { sqliteOptions } = await import('./sqlite/node-sqlite.js');
    return { ...sqliteOptions(database, purpose), ...schema };
  }
  const { mysqlOptions } = await import('./mysql/mysql-pool.js');
  return { ...(await mysqlOptions(database, databasePoolSize, purpose)), ...schema };
}

export function createDataSource(options: DataSourceOptions): DataSource {
  const dataSource = new DataSource(options);
  if (options.type === 'better-sqlite3') return installSqliteQueryRunner(dataSource);
  return installMysqlQueryRunner(dataSource, options.maxQueryExecutionTime);
}

/** Waits for a server that cannot be reached, and leaves no pool of an attempt that failed. */
export function openDataSource(options: DataSourceOptions): Promise<DataSource> {
  return onceReachable(async () => {
    const dataSource = createDataSource(options);
    try {
      return await dataSource.initialize();
    } catch (error) {
      await dataSource.driver.disconnect().catch(() => undefined);
      throw error;
    }
  });
}

export async function engineOf(
  dataSource: DataSource,
): Promise<{ name: 'sqlite' | 'mysql' | 'mariadb'; version: string }> {
  const { type } = dataSource.options;
  const isSqlite = type === 'better-sqlite3';
  const [row] = await dataSource.query<{ version: string }[]>(
    isSqlite ? 'SELECT sqlite_version() AS version' : 'SELECT VERSION() AS version',
  );
  return { name: isSqlite ? 'sqlite' : type === 'mariadb' ? 'mariadb' : 'mysql', version: row!.version };
}

@Global()
@Module({})
export class DatabaseModule {
  static forRoot(schema: DatabaseSchema): DynamicModule {
    return withDataSource({
      inject: [Env],
      useFactory: async (env: Env) => ({ ...(await dataSourceOptions(env, schema)), retryAttempts: 0 }),
      dataSourceFactory: (options) => openDataSource(options!),
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
