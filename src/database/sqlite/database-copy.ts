import { NodeSqlite } from '../adapters/node-sqlite.js';

/** How long to wait for a checkpoint of the service. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * A copy as of one moment, while others read and write the original. Whoever calls it waits.
 *
 * @param target an empty file
 */
export function copyDatabaseFile(source: string, target: string): void {
  withFile(source, (database) => database.prepare('VACUUM INTO ?').run(target));
}

/** What SQLite itself finds wrong in a file; empty where it is intact. */
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
