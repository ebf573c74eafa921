import type { DataSource, MigrationInterface } from 'typeorm';
import { parseEnv } from '../../src/config/parse-env.js';
import { createDataSource } from '../../src/database/create-data-source.js';
import { dataSourceOptions } from '../../src/database/data-source-options.js';
import { SCHEMA } from '../../src/app/schema.js';
import type { Installation } from './installation.js';

export const MIGRATIONS = SCHEMA.migrations as (new () => MigrationInterface)[];

/**
 * The service's own way to its database, in this process. On SQLite no process of the service may be running.
 *
 * @param known the migrations that there are; none is run yet
 */
export async function aDataSource(
  installation: Installation,
  known: readonly (new () => MigrationInterface)[] = MIGRATIONS,
): Promise<DataSource> {
  const schema = { ...SCHEMA, migrations: [...known] };
  const options = await dataSourceOptions(parseEnv(installation.env), schema, 'maintenance');
  return createDataSource(options).initialize();
}
