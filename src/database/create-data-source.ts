import { DataSource, type DataSourceOptions } from 'typeorm';
import { useLeanQueryRunner } from './mysql/lean-query-runner.js';
import { serializeSqlite } from './sqlite/sqlite-queue.js';

/** A DataSource that is safe for its engine, not yet opened. */
export function createDataSource(options: DataSourceOptions): DataSource {
  const dataSource = new DataSource(options);
  if (options.type === 'better-sqlite3') return serializeSqlite(dataSource);
  return useLeanQueryRunner(dataSource, options.maxQueryExecutionTime);
}
