import { databaseError } from './database-errors.js';

/** how long to wait for a connection, or on SQLite for the mutex of the only one */
export const ACQUIRE_TIMEOUT_MS = 3000;

export function acquireTimeoutError(): NodeJS.ErrnoException {
  return databaseError('POOL_ACQUIRE_TIMEOUT', 'No database connection became free in time');
}
