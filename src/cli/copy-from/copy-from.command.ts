import { resolve } from 'node:path';
import { SCHEMA } from '../../app/schema.js';
import type { Env } from '../../config/env.js';
import { loadEnv } from '../../config/load-env.js';
import type { Purpose } from '../../database/schema.js';
import { copyTables, TableNotEmptyError } from '../../database/table-copy.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { openDatabase } from '../open-database.js';
import { requireSchema } from '../services.js';

export async function copyFrom({ parameters }: Invocation): Promise<Report> {
  const env = loadEnv();
  const file = resolve(parameters[0]!);
  const source: Env = { ...env, database: { engine: 'sqlite', file } };
  await requireSource(source);
  const copied = await withDatabase(env, 'maintenance', async (target) => {
    try {
      return await copyTables(file, target);
    } catch (error) {
      throw error instanceof TableNotEmptyError ? new CannotRunError(error.message) : error;
    }
  });
  return { lines: copied.map(({ table, rows }) => `${table.padEnd(20)} ${rows} rows`), json: copied };
}

async function requireSource(source: Env): Promise<void> {
  try {
    await withDatabase(source, 'inspection', () => Promise.resolve());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CannotRunError(`the file to copy: ${message}`);
  }
}

async function withDatabase<T>(
  env: Env,
  purpose: Purpose,
  work: (dataSource: Awaited<ReturnType<typeof openDatabase>>) => Promise<T>,
): Promise<T> {
  const dataSource = await openDatabase(env, SCHEMA, purpose);
  try {
    await requireSchema(dataSource);
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
