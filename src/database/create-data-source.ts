import { DataSource, type DataSourceOptions } from 'typeorm';
import { installMysqlQueryRunner } from './adapters/mysql-query-runner.js';
import { installSqliteQueryRunner } from './adapters/sqlite-query-runner.js';

export function createDataSource(options: DataSourceOptions): DataSource {
  const dataSource = new DataSource(options);
  if (options.type === 'better-sqlite3') return installSqliteQueryRunner(dataSource);
  return installMysqlQueryRunner(dataSource, options.maxQueryExecutionTime);
}
