import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import type { Env, MysqlLocation, SqliteLocation } from '../config/env.js';
import { mysqlDriver } from './mysql/mysql-pool.js';
import { identifyMysqlServer } from './mysql/mysql-server.js';
import { sessionSettings, STATEMENT_TIMEOUT_SECONDS } from './mysql/session-settings.js';
import { NodeSqlite } from './sqlite/node-sqlite.js';

/** The tables the application owns and how they came to be. */
export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

/**
 * `requests` ends statements that take too long; `maintenance`, such as a migration, takes its time, and so
 * does `inspection`, which only looks and may do so beside a running service.
 */
export type Purpose = 'requests' | 'maintenance' | 'inspection';

const CONNECT_TIMEOUT_MS = 3000;
const CONNECT_TIMEOUT_OF_SEVERAL_MS = 1000;
/** Later than the server's own limit: only a server that hangs lets it come to this. */
const SILENCE_TIMEOUT_MS = STATEMENT_TIMEOUT_SECONDS * 1000 + 500;
const SQLITE_BUSY_TIMEOUT_MS = 1000;

/** TypeORM's options for the database that the configuration names. */
export async function dataSourceOptions(
  env: Env,
  schema: Schema,
  purpose: Purpose = 'requests',
): Promise<DataSourceOptions> {
  return env.database.engine === 'sqlite'
    ? sqliteOptions(env.database, schema, purpose)
    : mysqlOptions(env.database, env.databasePoolSize, schema, purpose);
}

function sqliteOptions(location: SqliteLocation, schema: Schema, purpose: Purpose): DataSourceOptions {
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
    timeout: SQLITE_BUSY_TIMEOUT_MS,
    prepareDatabase: (database: NodeSqlite) => {
      database.pragma('synchronous = FULL');
    },
    synchronize: false,
    logging: false,
  };
}

async function mysqlOptions(
  location: MysqlLocation,
  poolSize: number,
  schema: Schema,
  purpose: Purpose,
): Promise<DataSourceOptions> {
  const server = await identifyMysqlServer(location);
  const limited = purpose === 'requests';
  return {
    ...schema,
    type: server.type,
    driver: mysqlDriver(location.hosts, sessionSettings(server, limited ? STATEMENT_TIMEOUT_SECONDS : 0)),
    username: location.user,
    password: location.password,
    database: location.database,
    charset: 'utf8mb4',
    timezone: 'Z',
    poolSize,
    bigNumberStrings: false,
    connectTimeout: location.hosts.length > 1 ? CONNECT_TIMEOUT_OF_SEVERAL_MS : CONNECT_TIMEOUT_MS,
    ...(limited && { maxQueryExecutionTime: SILENCE_TIMEOUT_MS }),
    synchronize: false,
    logging: false,
  };
}
