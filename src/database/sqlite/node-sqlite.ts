import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { addClock } from './clock-functions.js';
import { createFile, DatabaseFileError, makePrivate, refuseOtherFile } from './database-file.js';
import { lockSqliteFile } from './sqlite-file-lock.js';

interface Options {
  readonly?: boolean;
  /** shares an existing file with the process that serves it */
  fileMustExist?: boolean;
  timeout?: number;
}

interface Statement {
  readonly reader: boolean;
  all(...values: SQLInputValue[]): unknown[];
  run(...values: SQLInputValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}

const CACHED_STATEMENTS = 200;

/** Replaces the package `better-sqlite3`, which has to be compiled or downloaded, with Node's own SQLite. */
export class NodeSqlite {
  private readonly database: DatabaseSync;
  private readonly statements = new Map<string, Statement>();
  private readonly unlock: () => void;

  constructor(file: string, options: Options = {}) {
    this.unlock = options.fileMustExist ? shareFile(file) : takeFile(file);
    this.database = new DatabaseSync(file, {
      readOnly: options.readonly ?? false,
      timeout: options.timeout ?? 0,
    });
    addClock(this.database);
  }

  pragma(text: string): unknown[] {
    return this.database.prepare(`PRAGMA ${text}`).all();
  }

  /** Caches statements, since preparing one takes longer than running it. */
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

function shareFile(file: string): () => void {
  if (!existsSync(file)) throw new DatabaseFileError(`there is no file ${file}`);
  refuseOtherFile(file);
  return () => undefined;
}

/** Keeps other services off the file, and other users out of it. */
function takeFile(file: string): () => void {
  refuseOtherFile(file);
  const unlock = lockSqliteFile(file);
  createFile(file);
  makePrivate(['', '-wal', '-shm', '-journal', '.lock'].map((suffix) => file + suffix));
  return unlock;
}

function asStatement(statement: StatementSync): Statement {
  const columns = statement.columns().map(({ name }) => name);
  // Objects built here are faster to make and to serialize than those of SQLite's binding.
  statement.setReturnArrays(true);
  return {
    reader: columns.length > 0,
    all: (...values) => asRows(columns, statement.all(...values) as unknown as SQLOutputValue[][]),
    run: (...values) => statement.run(...values),
  };
}

function asRows(columns: string[], records: SQLOutputValue[][]): Record<string, SQLOutputValue>[] {
  return records.map((record) => {
    const row: Record<string, SQLOutputValue> = {};
    columns.forEach((column, place) => (row[column] = record[place]!));
    return row;
  });
}
