import type { DataSourceOptions } from 'typeorm';
import type { Env } from '../config/env.js';
import type { Purpose, Schema } from './schema.js';

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
