import { DataSource, type DataSourceOptions } from 'typeorm';
import { serializeSqlite } from './sqlite/sqlite-queue.js';

/** A DataSource that is safe for its engine, not yet opened. */
export function createDataSource(options: DataSourceOptions): DataSource {
  const dataSource = new DataSource(options);
  return options.type === 'better-sqlite3' ? serializeSqlite(dataSource) : dataSource;
}
