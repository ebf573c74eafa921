import { SCHEMA } from '../../app/schema.js';
import { Env } from '../../config/env.js';
import { loadEnv } from '../../config/load-env.js';
import { migrate } from '../../database/migrate.js';
import { isSchemaUpToDate } from '../../database/schema-version.js';
import { DatabaseInUseError } from '../../database/sqlite/sqlite-file-lock.js';
import type { Report } from '../command.js';
import { openDatabase } from '../open-database.js';

export async function migrateDatabase(): Promise<Report> {
  const env = loadEnv();
  const applied = await migrateUnlessDone(new Env({ ...env, migrations: 'run' }));
  const last = applied.length === 0 ? 'the schema is up to date' : 'the schema is up to date now';
  return { lines: [...applied.map((name) => `applied ${name}`), last], json: [{ applied }] };
}

/** Reports a silent server at once; on SQLite, a running service is an error only if there is something to apply. */
async function migrateUnlessDone(env: Env): Promise<string[]> {
  if (env.database.engine === 'mysql') return (await isUpToDate(env)) ? [] : migrate(env, SCHEMA);
  try {
    return await migrate(env, SCHEMA);
  } catch (error) {
    if (error instanceof DatabaseInUseError && (await isUpToDate(env))) return [];
    throw error;
  }
}

async function isUpToDate(env: Env): Promise<boolean> {
  const dataSource = await openDatabase(env, SCHEMA, 'inspection');
  try {
    return await isSchemaUpToDate(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
