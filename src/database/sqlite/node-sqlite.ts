import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { dirname, resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import {
  createDirectory,
  createFile,
  DatabaseFileError,
  DatabaseInUseError,
  holdLock,
  makePrivate,
  realPath,
  refuseOtherFile,
} from './database-file.js';
import type { SqliteLocation } from '../../config/database-url.js';
import type { ConnectionPurpose } from '../transactions/database-errors.js';

interface FileOptions {
  readonly?: boolean;
  fileMustExist?: boolean;
  timeout?: number;
}

type Statement = ReturnType<typeof asStatement>;

const CACHED_STATEMENTS = 200;

/** Replaces `better-sqlite3`, which the installation would compile or download. */
export class NodeSqlite {
  private readonly database: DatabaseSync;
  private readonly statements = new Map<string, Statement>();
  private readonly unlock: () => void;

  constructor(file: string, { readonly = false, fileMustExist = false, timeout = 0 }: FileOptions = {}) {
    this.unlock = claimFile(file, fileMustExist);
    this.database = new DatabaseSync(file, { readOnly: readonly, timeout });
    addClock(this.database);
  }

  pragma(text: string): unknown[] {
    return this.database.prepare(`PRAGMA ${text}`).all();
  }

  /**
   * Caches statements, because SQLite prepares a statement more slowly than it runs it.
   *
   * @floor each operation on SQLite: not measured without
   */
  prepare(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known) return known;

    const statement = asStatement(this.database.prepare(sql));
    this.statements.set(sql, statement);
    if (this.statements.size > CACHED_STATEMENTS) {
      this.statements.delete(this.statements.keys().next().value!);
    }
    return statement;
  }

  close(): void {
    this.statements.clear();
    this.database.close();
    this.unlock();
  }
}

function claimFile(file: string, isShared: boolean): () => void {
  if (isShared && !existsSync(file)) throw new DatabaseFileError(`there is no file ${file}`);
  refuseOtherFile(file);
  if (isShared) return () => undefined;
  const unlock = holdLock(`${file}.lock`);
  if (!unlock) throw new DatabaseInUseError(file);
  createFile(file);
  makePrivate(['', '-wal', '-shm', '-journal', '.lock'].map((suffix) => file + suffix));
  return unlock;
}

/**
 * Makes rows from arrays: the objects that node:sqlite returns are slower to create and to serialize.
 *
 * @floor list of 1,000 on SQLite 0.9: raised it, with a literal limit, from 0.93 to 1.45
 */
function asStatement(statement: StatementSync) {
  const columns = statement.columns().map(({ name }) => name);
  statement.setReturnArrays(true);
  return {
    reader: columns.length > 0,
    all: (...values: SQLInputValue[]): unknown[] =>
      asRows(columns, statement.all(...values) as unknown as SQLOutputValue[][]),
    run: (...values: SQLInputValue[]) => statement.run(...values),
  };
}

function asRows(columns: string[], records: SQLOutputValue[][]): Record<string, SQLOutputValue>[] {
  return records.map((record) => {
    const row: Record<string, SQLOutputValue> = {};
    columns.forEach((column, index) => (row[column] = record[index]!));
    return row;
  });
}

/** SQLite's own wait blocks the process, so requests wait in sqlite-query-runner.ts instead. */
const BUSY_TIMEOUTS_MS = { requests: 0, command: 3000, maintenance: 1000, inspection: 1000 };

export function sqliteOptions(location: SqliteLocation, purpose: ConnectionPurpose): DataSourceOptions {
  const readonly = purpose === 'inspection';
  const isService = purpose === 'requests' || purpose === 'maintenance';
  const path = resolve(location.file);
  if (isService) createDirectory(dirname(path));
  return {
    type: 'better-sqlite3',
    driver: NodeSqlite,
    database: realPath(path),
    readonly,
    fileMustExist: !isService,
    enableWAL: isService,
    timeout: BUSY_TIMEOUTS_MS[purpose],
    prepareDatabase: (database: NodeSqlite) => {
      database.pragma('synchronous = FULL');
    },
    synchronize: false,
    logging: false,
  };
}

const BUSY_TIMEOUT_MS = 5000;

export function copyDatabaseFile(source: string, target: string): void {
  withFile(source, (database) => database.prepare('VACUUM INTO ?').run(target));
}

export function damageOf(file: string): string[] {
  return withFile(file, (database) => [
    ...(database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[])
      .map(({ integrity_check: finding }) => finding)
      .filter((finding) => finding !== 'ok'),
    ...(database.prepare('PRAGMA foreign_key_check').all() as { table: string }[]).map(
      ({ table }) => `a row of ${table} refers to none`,
    ),
  ]);
}

export function openToRead(file: string): NodeSqlite {
  return new NodeSqlite(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
}

function withFile<T>(file: string, work: (database: NodeSqlite) => T): T {
  const database = openToRead(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Adds the functions of MySQL that NOW_MS calls. */
export function addClock(database: DatabaseSync): void {
  database.function('NOW', { varargs: true }, () => Date.now() / 1000);
  database.function('UNIX_TIMESTAMP', (seconds) => seconds);
}
