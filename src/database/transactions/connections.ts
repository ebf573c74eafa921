import { databaseError } from './database-errors.js';

// `requests` and `maintenance`, such as a migration, wait for a database that is not there yet; with the other two an
// operator hears of that at once. `requests` and `command`, a short transaction beside a running service, limit the
// time of a statement; `maintenance` and `inspection`, which only looks, do not.
export type Purpose = 'requests' | 'command' | 'maintenance' | 'inspection';

/** how long to wait for a connection, or on SQLite for the mutex of the only one */
export const ACQUIRE_TIMEOUT_MS = 3000;

export function acquireTimeoutError(): NodeJS.ErrnoException {
  return databaseError('POOL_ACQUIRE_TIMEOUT', 'No database connection became free in time');
}
