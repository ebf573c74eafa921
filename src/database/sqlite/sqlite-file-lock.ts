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
 * An exclusive transaction on an empty file beside the database: the operating system releases it when the
 * process ends, and readers (backups, the sqlite3 shell) are not affected.
 * @param file its real path, or two links would have two locks
 * @throws DatabaseInUseError
 */
export function lockSqliteFile(file: string): () => void {
  createFile(`${file}.lock`);
  const lock = new DatabaseSync(`${file}.lock`);
  try {
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw isBusy(error) ? new DatabaseInUseError(file) : error;
  }
  return () => lock.close();
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
