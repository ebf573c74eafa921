import type { Env } from '../config/env.js';

/** What the process opens besides: the database's files, keys, logs, the listeners, Redis, mails, traces. */
const RESERVED = 64;
const MIN_CONNECTIONS = 16;
/** An idle one takes memory, too. */
const MAX_CONNECTIONS = 10_000;

/** As many connections of clients as the process may have beside its other files. */
export function maxConnections({ database, databasePoolSize }: Env): number {
  const pool = database.engine === 'mysql' ? databasePoolSize : 0;
  const files = openFilesLimit() ?? Number.POSITIVE_INFINITY;
  return Math.min(Math.max(files - RESERVED - pool, MIN_CONNECTIONS), MAX_CONNECTIONS);
}

/** Node raises the soft limit to the hard one when it starts. undefined: none, or on Windows */
function openFilesLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files: { soft: number | 'unlimited' } };
  };
  const limit = userLimits?.open_files.soft;
  return typeof limit === 'number' ? limit : undefined;
}
