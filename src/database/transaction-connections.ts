import type { DataSourceOptions } from 'typeorm';

/** The other connections are for single statements. */
export function shareForTransactions(poolSize: number): number {
  return Math.floor(poolSize / 2);
}

export function transactionConnections({ type, poolSize = 2 }: DataSourceOptions): number {
  return type === 'better-sqlite3' ? 1 : shareForTransactions(poolSize);
}
