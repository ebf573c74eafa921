import { resolve } from 'node:path';
import { SCHEMA } from '../../app/schema.js';
import { Env, loadEnv } from '../../config/env.js';
import { isSchemaUpToDate, migrate } from '../../database/migrate.js';
import { DatabaseInUseError } from '../../database/sqlite/database-file.js';
import { copyTables, TableNotEmptyError } from '../../database/table-copy.js';
import { requireSchema, withDatabase } from '../command/database.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';

export async function migrateDatabase(): Promise<Report> {
  const env = loadEnv();
  const applied = await migrateUnlessDone(new Env({ ...env, migrations: 'run' }));
  const last = applied.length === 0 ? 'the schema is up to date' : 'the schema is up to date now';
  return { lines: [...applied.map((name) => `applied ${name}`), last], json: [{ applied }] };
}

/** On SQLite, a running service is an error only if migrations are pending. */
async function migrateUnlessDone(env: Env): Promise<string[]> {
  const isUpToDate = (): Promise<boolean> => withDatabase(env, 'inspection', isSchemaUpToDate);
  if (env.database.engine === 'mysql') return (await isUpToDate()) ? [] : migrate(env, SCHEMA);
  try {
    return await migrate(env, SCHEMA);
  } catch (error) {
    if (error instanceof DatabaseInUseError && (await isUpToDate())) return [];
    throw error;
  }
}

export async function copyFrom({ parameters }: Invocation): Promise<Report> {
  const env = loadEnv();
  const file = resolve(parameters[0]!);
  await requireSource({ ...env, database: { engine: 'sqlite', file } });
  const copied = await withDatabase(env, 'maintenance', async (target) => {
    await requireSchema(target);
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
    await withDatabase(source, 'inspection', requireSchema);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CannotRunError(`the file to copy: ${message}`);
  }
}
