import { DatabaseSync } from 'node:sqlite';
import { createFile } from './database-file.js';

export class DatabaseInUseError extends Error {
  constructor(file: string) {
    super(
      `DATABASE_URL: another process is using ${file}; SQLite serves one process, use MySQL or MariaDB for several`,
    );
  }
}

// Keeps a second service off the database file, but not readers (backups, the sqlite3 shell) nor the short transactions
// of commands. `file` is its real path: a lock beside a symbolic link would keep nobody off.
export function lockSqliteFile(file: string): () => void {
  const unlock = holdLock(`${file}.lock`);
  if (!unlock) throw new DatabaseInUseError(file);
  return unlock;
}

/** Holds an exclusive transaction on an empty database, which the operating system drops however the process ends. */
export function holdLock(file: string): (() => void) | undefined {
  createFile(file);
  const lock = new DatabaseSync(file);
  try {
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return () => lock.close();
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
