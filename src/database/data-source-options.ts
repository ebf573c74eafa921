import type { DataSourceOptions } from 'typeorm';
import type { Env } from '../config/env.js';

/** The tables the application owns and how they came to be. */
export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

/**
 * `requests` ends statements that take too long; `maintenance`, such as a migration, takes its time, and so
 * does `inspection`, which only looks and may do so beside a running service.
 */
export type Purpose = 'requests' | 'maintenance' | 'inspection';

/** TypeORM's options for the database that the configuration names, whose client alone is loaded. */
export async function dataSourceOptions(
  { database, databasePoolSize }: Env,
  schema: Schema,
  purpose: Purpose = 'requests',
): Promise<DataSourceOptions> {
  if (database.engine === 'sqlite') {
    const { sqliteOptions } = await import('./sqlite/sqlite-options.js');
    return sqliteOptions(database, schema, purpose);
  }
  const { mysqlOptions } = await import('./mysql/mysql-options.js');
  return mysqlOptions(database, databasePoolSize, schema, purpose);
}
