import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import type { Env, MysqlLocation, SqliteLocation } from '../config/env.js';
import { mysqlDriver } from './mysql-pool.js';
import { identifyMysqlServer } from './mysql-server.js';
import { NodeSqlite } from './node-sqlite.js';

/** The tables the application owns and how they came to be. */
export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

const CONNECT_TIMEOUT_MS = 3000;
const STATEMENT_TIMEOUT_MS = 5000;
const SQLITE_BUSY_TIMEOUT_MS = 1000;

/** TypeORM's options for the database that the configuration names. */
export async function dataSourceOptions(env: Env, schema: Schema): Promise<DataSourceOptions> {
  return env.database.engine === 'sqlite'
    ? sqliteOptions(env.database, schema)
    : mysqlOptions(env.database, env.databasePoolSize, schema);
}

function sqliteOptions(location: SqliteLocation, schema: Schema): DataSourceOptions {
  const file = resolve(location.file);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return {
    ...schema,
    type: 'better-sqlite3',
    driver: NodeSqlite,
    database: file,
    enableWAL: true,
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
): Promise<DataSourceOptions> {
  const server = await identifyMysqlServer(location);
  const [host] = location.hosts;
  return {
    ...schema,
    type: server.type,
    driver: mysqlDriver(server.sessionSettings),
    host: host!.host,
    port: host!.port,
    username: location.user,
    password: location.password,
    database: location.database,
    charset: 'utf8mb4',
    timezone: 'Z',
    poolSize,
    bigNumberStrings: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxQueryExecutionTime: STATEMENT_TIMEOUT_MS,
    enableQueryTimeout: true,
    synchronize: false,
    logging: false,
  };
}
