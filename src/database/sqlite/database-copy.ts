import { NodeSqlite } from './node-sqlite.js';

/** how long to wait for a checkpoint of the service */
const BUSY_TIMEOUT_MS = 5000;

/** Copies the file as of one moment, while others use it, to an empty file; blocks this process meanwhile. */
export function copyDatabaseFile(source: string, target: string): void {
  withFile(source, (database) => database.prepare('VACUUM INTO ?').run(target));
}

/** Lists what SQLite itself finds wrong in a file; empty if it is intact. */
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

function withFile<T>(file: string, work: (database: NodeSqlite) => T): T {
  const database = new NodeSqlite(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return work(database);
  } finally {
    database.close();
  }
}
