import { dirname, resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import type { SqliteLocation } from '../../config/env.js';
import type { Purpose, Schema } from '../schema.js';
import { createDirectory, realPath } from './database-file.js';
import { NodeSqlite } from '../adapters/node-sqlite.js';

const BUSY_TIMEOUT_MS = 1000;

export function sqliteOptions(location: SqliteLocation, schema: Schema, purpose: Purpose): DataSourceOptions {
  const readonly = purpose === 'inspection';
  const path = resolve(location.file);
  if (!readonly) createDirectory(dirname(path));
  return {
    ...schema,
    type: 'better-sqlite3',
    driver: NodeSqlite,
    database: realPath(path),
    readonly,
    enableWAL: !readonly,
    timeout: BUSY_TIMEOUT_MS,
    prepareDatabase: (database: NodeSqlite) => {
      database.pragma('synchronous = FULL');
    },
    synchronize: false,
    logging: false,
  };
}
