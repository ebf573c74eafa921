import { dirname, resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import type { SqliteLocation } from '../../config/database-url.js';
import type { Purpose } from '../transactions/connections.js';
import { createDirectory, realPath } from './database-file.js';
import { NodeSqlite } from './node-sqlite.js';

/** How long SQLite itself waits, and blocks the process; a service waits in sqlite-query-runner.ts instead. */
const BUSY_TIMEOUTS_MS: Record<Purpose, number> = {
  requests: 0,
  command: 3000,
  maintenance: 1000,
  inspection: 1000,
};

export function sqliteOptions(location: SqliteLocation, purpose: Purpose): DataSourceOptions {
  const readonly = purpose === 'inspection';
  const isService = purpose === 'requests' || purpose === 'maintenance';
  const path = resolve(location.file);
  if (isService) createDirectory(dirname(path));
  return {
    type: 'better-sqlite3',
    driver: NodeSqlite,
    database: realPath(path),
    readonly,
    fileMustExist: !isService,
    enableWAL: isService,
    timeout: BUSY_TIMEOUTS_MS[purpose],
    prepareDatabase: (database: NodeSqlite) => {
      database.pragma('synchronous = FULL');
    },
    synchronize: false,
    logging: false,
  };
}
