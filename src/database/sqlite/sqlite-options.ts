import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import type { SqliteLocation } from '../../config/env.js';
import type { Purpose, Schema } from '../data-source-options.js';
import { NodeSqlite } from './node-sqlite.js';

const BUSY_TIMEOUT_MS = 1000;

export function sqliteOptions(location: SqliteLocation, schema: Schema, purpose: Purpose): DataSourceOptions {
  const readonly = purpose === 'inspection';
  const file = resolve(location.file);
  if (!readonly) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return {
    ...schema,
    type: 'better-sqlite3',
    driver: NodeSqlite,
    database: file,
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
