import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { SCHEMA } from '../../app/schema.js';
import { RefusedError } from '../../problems/problem.js';
import type { MysqlLocation } from '../../config/database-url.js';
import type { Env } from '../../config/env.js';
import { loadEnv } from '../../config/load-env.js';
import { damageOf } from '../../database/sqlite/database-copy.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { inspect } from '../doctor/inspect.js';
import { SCHEMA_CHECKS } from '../doctor/schema-checks.js';
import { openDatabase } from '../open-database.js';
import { newFile } from './new-file.js';

export async function backUp({ parameters }: Invocation): Promise<Report> {
  const env = loadEnv();
  if (env.database.engine === 'mysql') throw new CannotRunError(`run ${dumpCommand(env.database)}`);
  // Opening it explains what is wrong if there is no such database.
  await (await openDatabase(env, SCHEMA, 'inspection')).destroy();
  const source = env.database.file;
  const file = resolve(parameters[0]!);
  await newFile(file, async (draft) => {
    const { copyDatabaseFile } = await import('../../database/sqlite/database-copy.js');
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
  const findings = await inspect(env, SCHEMA, SCHEMA_CHECKS);
  const isSound = findings.every(({ faults }) => faults.length === 0);
  return isSound ? [] : ['its schema is not that of this version: see accounts doctor'];
}

/** Leaves the password to the client's prompt or files: the list of processes would show it. */
function dumpCommand({ hosts, user, database }: MysqlLocation): string {
  const [{ host, port }] = hosts as [MysqlLocation['hosts'][number]];
  return `umask 077 && mariadb-dump --single-transaction --host=${host} --port=${port} --user=${user} --password ${database} > FILE`;
}
