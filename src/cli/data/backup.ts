import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, linkSync, lstatSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readKeyFile } from '../../auth/tokens/key-file.js';
import { readKeySet, SigningKeysError } from '../../auth/tokens/signing-keys.js';
import type { MysqlLocation, SqliteLocation } from '../../config/database-url.js';
import { Env, loadEnv, VERSION } from '../../config/env.js';
import { engineOf } from '../../database/database.module.js';
import { lastMigration } from '../../database/migrate.js';
import { dumpDatabase, findDumpProgram } from '../../database/mysql/mysql-dump.js';
import { syncDirectory, syncFile } from '../../database/sqlite/database-file.js';
import { copyDatabaseFile, damageOf } from '../../database/sqlite/node-sqlite.js';
import { isDatabaseUnreachable, isMissingTable } from '../../database/transactions/database-errors.js';
import { FIND_LAST } from '../../events/events.repository.js';
import { timeOfEntityId } from '../../identifiers/entity-id.js';
import { timeText } from '../../identifiers/text.js';
import { RefusedError } from '../../problems/problem.js';
import { withDatabase } from '../command/database.js';
import { abortedBy, CannotRunError, type Invocation, type Report } from '../command/definition.js';
import { inspect } from '../doctor/doctor.js';
import { SCHEMA_CHECKS } from '../doctor/schema-checks.js';

export async function backUp(invocation: Invocation): Promise<Report> {
  const env = loadEnv();
  const { database } = env;
  const source = await openSource(
    env,
    database.engine === 'sqlite'
      ? [database]
      : database.hosts.map((host) => ({ ...database, hosts: [host] })),
  );
  const file = resolve(invocation.parameters[0]!);
  const { bytes, sha256 } = await newFile(file, (draft) =>
    source.location.engine === 'sqlite'
      ? copyFile(env, source.location, draft, invocation)
      : dump(source.server, source.location, draft, invocation),
  );
  const { migration, event } = source;
  const keysFile = env.jwtKeysFile;
  const keys = keysIn(keysFile);
  return {
    lines: [
      `${file}: ${bytes} bytes, checked`,
      `SHA-256: ${sha256}`,
      `version ${VERSION}, last migration ${migration ?? 'none'}`,
      `last event before the copy: ${event === null ? 'none' : `${event} (${timeText(timeOfEntityId(event))})`}`,
      `signing keys: ${keys?.join(', ') ?? 'none, because the file cannot be read'}`,
      `the copy does not contain the signing keys, which two-factor authentication needs: also copy ${keysFile}`,
    ],
    json: [{ file, bytes, sha256, version: VERSION, migration, event, keysFile, keys }],
  };
}

interface Source {
  location: SqliteLocation | MysqlLocation;
  server: Awaited<ReturnType<typeof engineOf>>['name'];
  migration: string | null;
  event: string | null;
}

/** If the URL names several hosts, returns the first that can be reached. */
async function openSource(env: Env, [location, ...others]: Source['location'][]): Promise<Source> {
  try {
    return await withDatabase(new Env({ ...env, database: location! }), 'inspection', async (dataSource) => ({
      location: location!,
      server: (await engineOf(dataSource)).name,
      migration: await lastMigration(dataSource),
      event: (await dataSource.query<{ id: string }[]>(FIND_LAST))[0]?.id ?? null,
    }));
  } catch (error) {
    if (isMissingTable(error)) throw new CannotRunError('the database has no tables of Accounts');
    if (others.length > 0 && isDatabaseUnreachable(error)) return openSource(env, others);
    throw error;
  }
}

/** Backups may be made where the keys are not. */
function keysIn(file: string): string[] | null {
  try {
    return readKeySet(readKeyFile(file)).map(({ kid }) => kid);
  } catch (error) {
    if (error instanceof SigningKeysError) return null;
    throw error;
  }
}

async function copyFile(
  env: Env,
  source: SqliteLocation,
  draft: string,
  invocation: Invocation,
): Promise<void> {
  invocation.showProgress(`copying ${source.file}`);
  copyDatabaseFile(resolve(source.file), draft);
  invocation.showProgress('checking the copy');
  const faults = damageOf(draft);
  const copy = { ...env, database: { engine: 'sqlite', file: draft } } as const;
  if ((await inspect(copy, SCHEMA_CHECKS)).some((finding) => finding.faults.length > 0)) {
    faults.push('its schema is not the schema of this version: see accounts doctor');
  }
  if (faults.length > 0) throw new RefusedError(`the copy is damaged and was deleted: ${faults.join('; ')}`);
}

const STEP = 1024 * 1024;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function dump(
  server: Source['server'],
  location: MysqlLocation,
  file: string,
  invocation: Invocation,
): Promise<void> {
  const program = await findDumpProgram(server === 'mysql');
  if (!program)
    throw new CannotRunError('neither mariadb-dump nor mysqldump is installed: see docs/recovery.md#back-up');
  let shown = -1;
  const onBytes = (bytes: number): void => {
    const size = Math.floor(bytes / STEP);
    if (size !== shown) invocation.showProgress(`copying ${location.database}: ${size} MiB`);
    shown = size;
  };
  const fault = await abortedBy(SIGNALS, (signal) =>
    dumpDatabase({ program, location, file, onBytes, signal }),
  );
  if (fault !== undefined) throw new RefusedError(`the copy is not complete and was deleted: ${fault}`);
}

/** Names the file once it is complete and on disk. Only its owner can read it. */
async function newFile(
  file: string,
  writeDraft: (draft: string) => Promise<void>,
): Promise<{ bytes: number; sha256: string }> {
  const draft = newDraft(file);
  try {
    await writeDraft(draft);
    const hash = createHash('sha256');
    await pipeline(createReadStream(draft), hash);
    syncFile(draft);
    linkSync(draft, file);
    syncDirectory(dirname(file));
    return { bytes: statSync(file).size, sha256: hash.digest('hex') };
  } catch (error) {
    const isExplained = error instanceof RefusedError || error instanceof CannotRunError;
    if (isExplained || !(error instanceof Error && 'code' in error)) throw error;
    throw new RefusedError(`the copy is not complete and was deleted: ${error.message}`);
  } finally {
    rmSync(draft, { force: true });
  }
}

function newDraft(file: string): string {
  const draft = `${file}.${randomUUID()}`;
  try {
    // A link to nothing would be noticed only after the copy.
    const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
    if (isThere) throw new Error(`${file} already exists, and is not overwritten`);
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 });
    return draft;
  } catch (error) {
    const { message } = error as Error;
    throw new CannotRunError('code' in (error as Error) ? `the file cannot be written: ${message}` : message);
  }
}
