import type { DataSource, MigrationInterface } from 'typeorm';
import { SCHEMA } from '../../src/app/schema.js';
import { type Env, parseEnv } from '../../src/config/env.js';
import { createDataSource, dataSourceOptions } from '../../src/database/database.module.js';
import { migrate } from '../../src/database/migrate.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import { anInstallation, type Installation } from './installation.js';
import type { Environment } from './service-process.js';

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

export interface DataLayer {
  env: Env;
  dataSource: DataSource;
  transactions: Transactions;
  /** the tests' own connection to the same data */
  db: Installation['db'];
  close(): Promise<void>;
}

/** The service's way to its data within the test's own process, for what no request can show. */
export async function openDataLayer(variables: Environment = {}): Promise<DataLayer> {
  const installation = await anInstallation();
  const env = parseEnv({ ...installation.env, ...variables });
  await migrate(env, SCHEMA);
  const dataSource = await createDataSource(await dataSourceOptions(env, SCHEMA)).initialize();
  return {
    env,
    dataSource,
    transactions: new Transactions(dataSource),
    db: installation.db,
    close: async () => {
      await dataSource.destroy();
      await installation.remove();
    },
  };
}
