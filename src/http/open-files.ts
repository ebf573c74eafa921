import type { Env } from '../config/env.js';

/** files kept for the database, keys, logs, listeners, Redis, mails and traces */
const RESERVED = 64;
const MIN_CONNECTIONS = 16;
/** Idle connections take memory, too. */
const MAX_CONNECTIONS = 10_000;

export function maxConnections({ database, databasePoolSize }: Env): number {
  const pool = database.engine === 'mysql' ? databasePoolSize : 0;
  const files = openFilesLimit() ?? Number.POSITIVE_INFINITY;
  return Math.min(Math.max(files - RESERVED - pool, MIN_CONNECTIONS), MAX_CONNECTIONS);
}

/** Node raises the soft limit to the hard one when it starts. Undefined means no limit, or Windows. */
function openFilesLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files: { soft: number | 'unlimited' } };
  };
  const limit = userLimits?.open_files.soft;
  return typeof limit === 'number' ? limit : undefined;
}
