import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Env } from '../config/env.js';
import type { Purpose } from './transactions/connections.js';
import { installMysqlQueryRunner } from './mysql/mysql-query-runner.js';
import { installSqliteQueryRunner } from './sqlite/sqlite-query-runner.js';

export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

export async function dataSourceOptions(
  { database, databasePoolSize }: Env,
  schema: Schema,
  purpose: Purpose = 'requests',
): Promise<DataSourceOptions> {
  if (database.engine === 'sqlite') {
    const { sqliteOptions } = await import('./sqlite/sqlite-options.js');
    return { ...sqliteOptions(database, purpose), ...schema };
  }
  const { mysqlOptions } = await import('./mysql/mysql-options.js');
  return { ...(await mysqlOptions(database, databasePoolSize, purpose)), ...schema };
}

export function createDataSource(options: DataSourceOptions): DataSource {
  const dataSource = new DataSource(options);
  if (options.type === 'better-sqlite3') return installSqliteQueryRunner(dataSource);
  return installMysqlQueryRunner(dataSource, options.maxQueryExecutionTime);
}
