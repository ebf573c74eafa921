import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { MysqlLocation } from '../../config/database-url.js';
import { type Env, loadEnv } from '../../config/env.js';
import { copyDatabaseFile, damageOf } from '../../database/sqlite/node-sqlite.js';
import { RefusedError } from '../../problems/problem.js';
import { openDatabase } from '../command/database.js';
import type { Invocation, Report } from '../command/definition.js';
import { CannotRunError } from '../command/options.js';
import { inspect } from '../doctor/doctor.js';
import { SCHEMA_CHECKS } from '../doctor/schema-checks.js';

export async function backUp({ parameters }: Invocation): Promise<Report> {
  const env = loadEnv();
  if (env.database.engine === 'mysql') throw new CannotRunError(`run ${dumpCommand(env.database)}`);
  // Opening it explains what is wrong if there is no such database.
  await (await openDatabase(env, 'inspection')).destroy();
  const source = env.database.file;
  const file = resolve(parameters[0]!);
  await newFile(file, async (draft) => {
    copyDatabaseFile(resolve(source), draft);
    const faults = [
      ...damageOf(draft),
      ...(await schemaFaults({ ...env, database: { engine: 'sqlite', file: draft } })),
    ];
    if (faults.length > 0)
      throw new RefusedError(`the copy is not sound and was removed: ${faults.join('; ')}`);
  });
  const bytes = statSync(file).size;
  return {
    lines: [
      `${file}: ${bytes} bytes, checked`,
      `the keys are not in it, and second factors need them: copy ${env.jwtKeysFile}, too`,
    ],
    json: [{ file, bytes, keysFile: env.jwtKeysFile }],
  };
}

async function schemaFaults(env: Env): Promise<string[]> {
  const findings = await inspect(env, SCHEMA_CHECKS);
  const isSound = findings.every(({ faults }) => faults.length === 0);
  return isSound ? [] : ['its schema is not that of this version: see accounts doctor'];
}

/** Leaves the password to the client's prompt or files: the list of processes would show it. */
function dumpCommand({ hosts, user, database }: MysqlLocation): string {
  const [{ host, port }] = hosts as [MysqlLocation['hosts'][number]];
  return `umask 077 && mariadb-dump --single-transaction --host=${host} --port=${port} --user=${user} --password ${database} > FILE`;
}

/** Writes a file that only its owner can read, and that gets its name once it is complete and on the disk. */
async function newFile(file: string, writeDraft: (draft: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) throw new CannotRunError(`${file} exists, and is not overwritten`);
  const draft = `${file}.${randomUUID()}`;
  create(draft);
  try {
    await writeDraft(draft);
    sync(draft);
    linkSync(draft, file);
    sync(dirname(file));
  } catch (error) {
    throw cannotWrite(error);
  } finally {
    rmSync(draft, { force: true });
  }
}

function create(draft: string): void {
  try {
    closeSync(openSync(draft, 'wx', 0o600));
  } catch (error) {
    throw cannotWrite(error);
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

/** Explains errors of the file system and of SQLite, which reports a full disk; returns all others unchanged. */
function cannotWrite(error: unknown): unknown {
  const isSystemError = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isSystemError ? new CannotRunError(`the file cannot be written: ${error.message}`) : error;
}
