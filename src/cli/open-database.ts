import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Env } from '../config/env.js';
import { createDataSource } from '../database/create-data-source.js';
import { dataSourceOptions } from '../database/data-source-options.js';
import { databaseError } from '../database/database-errors.js';
import type { Purpose, Schema } from '../database/schema.js';

const OPEN_TIMEOUT_MS = 10_000;

/** Gives up where the service would wait: an operator wants to hear that the database does not answer. */
export async function openDatabase(env: Env, schema: Schema, purpose: Purpose): Promise<DataSource> {
  const opening = dataSourceOptions(env, schema, purpose).then((options) =>
    createDataSource(options).initialize(),
  );
  const late = sleep(OPEN_TIMEOUT_MS, undefined, { ref: false }).then(() => undefined);
  const dataSource = await Promise.race([opening, late]);
  if (!dataSource) throw databaseError('ETIMEDOUT', 'nothing answers there');
  return dataSource;
}
