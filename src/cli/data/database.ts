import { dirname, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { SCHEMA } from '../../app/schema.js';
import { Env, loadEnv } from '../../config/env.js';
import { isSchemaUpToDate, migrate } from '../../database/migrate.js';
import { DatabaseInUseError } from '../../database/sqlite/database-file.js';
import { copyTables, TableNotEmptyError } from '../../database/table-copy.js';
import { openDatabase, requireSchema, withDatabase } from '../command/database.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import type { MysqlLocation } from '../../config/database-url.js';
import { copyDatabaseFile, damageOf } from '../../database/sqlite/node-sqlite.js';
import { RefusedError } from '../../problems/problem.js';
import { inspect } from '../doctor/doctor.js';
import { SCHEMA_CHECKS } from '../doctor/schema-checks.js';

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

export async function backUp(invocation: Invocation): Promise<Report> {
  const env = loadEnv();
  if (env.database.engine === 'mysql') throw new CannotRunError(`run ${dumpCommand(env.database)}`);
  await (await openDatabase(env, 'inspection')).destroy();
  const source = env.database.file;
  const file = resolve(invocation.parameters[0]!);
  await newFile(file, async (draft) => {
    invocation.showProgress(`copying ${source}`);
    copyDatabaseFile(resolve(source), draft);
    invocation.showProgress('checking the copy');
    const faults = damageOf(draft);
    const copy = { ...env, database: { engine: 'sqlite', file: draft } } as const;
    if ((await inspect(copy, SCHEMA_CHECKS)).some((finding) => finding.faults.length > 0)) {
      faults.push('its schema is not the schema of this version: see accounts doctor');
    }
    if (faults.length > 0)
      throw new RefusedError(`the copy is damaged and was deleted: ${faults.join('; ')}`);
  });
  const bytes = statSync(file).size;
  return {
    lines: [
      `${file}: ${bytes} bytes, checked`,
      `the copy does not contain the signing keys, which two-factor authentication needs: also copy ${env.jwtKeysFile}`,
    ],
    json: [{ file, bytes, keysFile: env.jwtKeysFile }],
  };
}

/** Without the password, which the list of processes would show. */
function dumpCommand({ hosts, user, database }: MysqlLocation): string {
  const [{ host, port }] = hosts as [MysqlLocation['hosts'][number]];
  return `umask 077 && mariadb-dump --single-transaction --host=${host} --port=${port} --user=${user} --password ${database} > FILE`;
}

/** Names the file once it is complete and on disk. Only its owner can read it. */
async function newFile(file: string, writeDraft: (draft: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) throw new CannotRunError(`${file} already exists, and is not overwritten`);
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 });
    await writeDraft(draft);
    sync(draft);
    linkSync(draft, file);
    sync(dirname(file));
  } catch (error) {
    if (error instanceof RefusedError || !(error instanceof Error && 'code' in error)) throw error;
    throw new CannotRunError(`the file cannot be written: ${error.message}`);
  } finally {
    rmSync(draft, { force: true });
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
