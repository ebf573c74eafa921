import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { Env } from '../config/env.js';
import { createDataSource } from './create-data-source.js';
import { dataSourceOptions } from './data-source-options.js';
import { MigrationLeaseLostError, withMigrationLease } from './migration-lease.js';
import { isSchemaUpToDate } from './schema-version.js';
import type { Schema } from './schema.js';

export class PendingMigrationsError extends Error {
  constructor() {
    super('MIGRATIONS: the schema is not up to date; start once with MIGRATIONS=run');
  }
}

// Has no statement limit. If several instances start at once, one migrates and the others wait. Throws
// PendingMigrationsError, or MigrationLeaseLostError after which the process has to end.
export async function migrate(env: Env, schema: Schema): Promise<string[]> {
  const dataSource = await createDataSource(await dataSourceOptions(env, schema, 'maintenance')).initialize();
  let applied: string[];
  try {
    applied = await bringUpToDate(dataSource, env);
  } catch (error) {
    // The abandoned work may wait for ever, and `destroy` with it.
    if (!(error instanceof MigrationLeaseLostError)) await dataSource.destroy();
    throw error;
  }
  await dataSource.destroy();
  return applied;
}

async function bringUpToDate(dataSource: DataSource, env: Env): Promise<string[]> {
  if (await isSchemaUpToDate(dataSource)) return [];
  if (env.migrations === 'check') throw new PendingMigrationsError();

  const run = (): Promise<string[]> => runMigrations(dataSource);
  return env.database.engine === 'sqlite' ? run() : withMigrationLease(dataSource, run);
}

async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const applied = await dataSource.runMigrations({ transaction: 'each' });
  for (const { name } of applied) new Logger('Database').log(`migration applied: ${name}`);
  return applied.map(({ name }) => name);
}
