import type { DataSourceOptions } from 'typeorm';
import { databaseError } from './database-errors.js';

/** how long to wait for a connection, or on SQLite for the mutex of the only one */
export const ACQUIRE_TIMEOUT_MS = 3000;

export function acquireTimeoutError(): NodeJS.ErrnoException {
  return databaseError('POOL_ACQUIRE_TIMEOUT', 'No database connection became free in time');
}

/** The other connections are for single statements. */
export function shareForTransactions(poolSize: number): number {
  return Math.floor(poolSize / 2);
}

export function transactionConnections({ type, poolSize = 2 }: DataSourceOptions): number {
  return type === 'better-sqlite3' ? 1 : shareForTransactions(poolSize);
}
