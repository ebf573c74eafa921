import { DatabaseSync } from 'node:sqlite';
import { createFile } from './database-file.js';

export class DatabaseInUseError extends Error {
  constructor(file: string) {
    super(
      `DATABASE_URL: another process is using ${file}; SQLite serves one process, use MySQL or MariaDB for several`,
    );
  }
}

/**
 * Keeps a second service off the database file; readers (backups, the sqlite3 shell) and the short transactions of
 * commands are not shut out.
 *
 * @param file its real path: a lock beside a symbolic link keeps nobody off the file
 * @throws DatabaseInUseError when another process holds it
 */
export function lockSqliteFile(file: string): () => void {
  const unlock = holdLock(`${file}.lock`);
  if (!unlock) throw new DatabaseInUseError(file);
  return unlock;
}

/**
 * An exclusive transaction on an empty database of its own: the operating system drops it when the process ends,
 * however it ends. undefined: another process holds it.
 */
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
