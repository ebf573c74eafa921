import type { DatabaseSync } from 'node:sqlite';

/** Adds the two functions of MySQL that NOW_MS calls, so that one statement serves both engines. */
export function addClock(database: DatabaseSync): void {
  database.function('NOW', { varargs: true }, () => Date.now() / 1000);
  database.function('UNIX_TIMESTAMP', (seconds) => seconds);
}
