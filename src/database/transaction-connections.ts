import type { DataSourceOptions } from 'typeorm';

/** The others are for statements by themselves. */
export function shareForTransactions(poolSize: number): number {
  return Math.floor(poolSize / 2);
}

/** How many transactions can be open at once. */
export function transactionConnections({ type, poolSize = 2 }: DataSourceOptions): number {
  return type === 'better-sqlite3' ? 1 : shareForTransactions(poolSize);
}
