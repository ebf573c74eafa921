import { callbackify } from 'node:util';
import type { PoolConnection, PoolOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import type { MysqlLocation } from '../../config/database-url.js';
import { databaseConnections } from '../../telemetry/metrics/measurements.js';
import { ACQUIRE_TIMEOUT_MS, databaseError, type Purpose } from '../transactions/database-errors.js';
import { type MysqlError, MysqlHost } from './mysql-host.js';
import type { MysqlPool } from './mysql-query-runner.js';
import {
  identifyMysqlServer,
  sessionSettings,
  STATEMENT_TIMEOUT_SECONDS,
  tlsOptions,
} from './mysql-server.js';

const CONNECT_TIMEOUT_MS = 3000;
const CONNECT_TIMEOUT_OF_SEVERAL_MS = 1000;
/** longer than the server's own limit, so that it applies only if the server hangs */
const SILENCE_TIMEOUT_MS = STATEMENT_TIMEOUT_SECONDS * 1000 + 500;

export async function mysqlOptions(
  location: MysqlLocation,
  poolSize: number,
  purpose: Purpose,
): Promise<DataSourceOptions> {
  const isForOperator = purpose === 'command' || purpose === 'inspection';
  const server = await identifyMysqlServer(location, !isForOperator);
  const limited = purpose === 'requests' || purpose === 'command';
  return {
    type: server.type,
    driver: mysqlDriver(location, sessionSettings(server, limited)),
    username: location.user,
    password: location.password,
    database: location.database,
    charset: 'utf8mb4',
    timezone: 'Z',
    // A migration holds one, and renews its lease on another.
    poolSize: limited ? poolSize : Math.max(poolSize, 4),
    bigNumberStrings: false,
    connectTimeout: location.hosts.length > 1 ? CONNECT_TIMEOUT_OF_SEVERAL_MS : CONNECT_TIMEOUT_MS,
    ...(limited && { maxQueryExecutionTime: SILENCE_TIMEOUT_MS }),
    synchronize: false,
    logging: false,
  };
}

function mysqlDriver(
  { hosts: addresses, tls }: MysqlLocation,
  settings: string[],
): { createPool(options: PoolOptions): MysqlPool } {
  return {
    createPool(options) {
      const hosts = addresses.map(
        ({ host, port }) =>
          new MysqlHost({ ...options, host, port, ...tlsOptions(tls, host, port) }, settings),
      );
      const count = (kind: 'idle' | 'inUse'): number =>
        hosts.reduce((sum, { connections }) => sum + connections[kind], 0);
      databaseConnections.provide(() => ({ idle: count('idle'), inUse: count('inUse') }));
      return {
        getConnection: callbackify(() => acquire(hosts)),
        noteFailure(connection, sql, error) {
          for (const host of hosts) host.noteFailure(connection, sql, error);
        },
        end: callbackify(async () => {
          await Promise.all(hosts.map((host) => host.close()));
        }),
      };
    },
  };
}

async function acquire(hosts: MysqlHost[]): Promise<PoolConnection> {
  const deadline = performance.now() + ACQUIRE_TIMEOUT_MS;
  let failure: MysqlError | undefined;
  for (const host of hosts) {
    const left = deadline - performance.now();
    if (!host.available || left <= 0) continue;
    try {
      return await host.acquire(left);
    } catch (error) {
      failure = error as MysqlError;
      // The host is busy, or refuses for a reason that other hosts share.
      if (host.available) break;
    }
  }
  throw failure ?? databaseError('NO_DATABASE_HOST', 'No database host can be used right now');
}
