import type { DataSource, MigrationInterface } from 'typeorm';
import { SCHEMA } from '../../src/app/schema.js';
import { type Env, parseEnv } from '../../src/config/env.js';
import { createDataSource, dataSourceOptions } from '../../src/database/database.module.js';
import { migrate } from '../../src/database/migrate.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import { noteStatements } from './executed-statements.js';
import { anInstallation, type Installation } from './installation.js';
import type { Environment } from './service-process.js';

export const MIGRATIONS = SCHEMA.migrations as (new () => MigrationInterface)[];

/** The service's own way to its database, in this process. On SQLite no process of the service may be running. */
export async function aDataSource({ env }: Installation): Promise<DataSource> {
  const dataSource = createDataSource(await dataSourceOptions(parseEnv(env), SCHEMA, 'maintenance'));
  return noteStatements(await dataSource.initialize());
}

export interface DataLayer {
  env: Env;
  dataSource: DataSource;
  transactions: Transactions;
  /** the tests' own connection to the same data */
  db: Installation['db'];
  installation: Installation;
  close(): Promise<void>;
}

/** The service's way to its data within the test's own process, for what no request can show. */
export async function openDataLayer(variables: Environment = {}): Promise<DataLayer> {
  const installation = await anInstallation();
  const env = parseEnv({ ...installation.env, ...variables });
  await migrate(env, SCHEMA);
  const dataSource = noteStatements(
    await createDataSource(await dataSourceOptions(env, SCHEMA)).initialize(),
  );
  return {
    env,
    dataSource,
    transactions: new Transactions(dataSource),
    db: installation.db,
    installation,
    close: async () => {
      await dataSource.destroy();
      await installation.remove();
    },
  };
}
