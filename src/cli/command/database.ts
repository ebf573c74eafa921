import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { SCHEMA } from '../../app/schema.js';
import type { Env } from '../../config/env.js';
import { createDataSource, dataSourceOptions } from '../../database/database.module.js';
import { databaseError, type ConnectionPurpose } from '../../database/transactions/database-errors.js';
import { isSchemaNewer, isSchemaUpToDate } from '../../database/migrate.js';
import { CannotRunError } from './definition.js';

const OPEN_TIMEOUT_MS = 10_000;

export async function openDatabase(env: Env, purpose: ConnectionPurpose): Promise<DataSource> {
  const opening = dataSourceOptions(env, SCHEMA, purpose).then((options) =>
    createDataSource(options).initialize(),
  );
  const late = sleep(OPEN_TIMEOUT_MS, undefined, { ref: false }).then(() => undefined);
  const dataSource = await Promise.race([opening, late]);
  if (!dataSource) throw databaseError('ETIMEDOUT', 'no server answers there');
  return dataSource;
}

export async function withDatabase<T>(
  env: Env,
  purpose: ConnectionPurpose,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = await openDatabase(env, purpose);
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

export async function requireSchema(dataSource: DataSource): Promise<void> {
  if (!(await isSchemaUpToDate(dataSource))) {
    throw new CannotRunError('the database has the schema of another version: run accounts migrate first');
  }
  if (await isSchemaNewer(dataSource)) {
    throw new CannotRunError(
      'the database has a newer schema than this command knows: use the command of that version',
    );
  }
}
