import { databaseError } from './database-errors.js';

/** the longest wait for a database connection, or for a turn on the only one, in milliseconds */
export const ACQUIRE_TIMEOUT_MS = 3000;

export function acquireTimeoutError(): NodeJS.ErrnoException {
  return databaseError('POOL_ACQUIRE_TIMEOUT', 'No database connection became free in time');
}
