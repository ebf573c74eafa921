import { callbackify } from 'node:util';
import type { PoolConnection, PoolOptions } from 'mysql2';
import type { MysqlLocation } from '../../config/database-url.js';
import { ACQUIRE_TIMEOUT_MS } from '../transactions/connection-limits.js';
import { databaseConnections } from '../../telemetry/metrics/measurements.js';
import { databaseError } from '../transactions/database-errors.js';
import { type ConnectionUse, type MysqlError, MysqlHost } from './mysql-host.js';
import { tlsOptions } from './mysql-tls.js';
import { sumConnections } from './open-connections.js';

type ConnectionCallback = (error: MysqlError | null, connection?: PoolConnection) => void;

export interface MysqlPool {
  getConnection(callback: ConnectionCallback): void;
  /** autocommit is off: the statements form a transaction until COMMIT or ROLLBACK */
  getTransactionConnection(): Promise<PoolConnection>;
  end(callback: (error: Error | null) => void): void;
}

/** Connects to the first healthy host, and bounds the wait for a connection. */
export function mysqlDriver(
  { hosts: addresses, tls }: Pick<MysqlLocation, 'hosts' | 'tls'>,
  sessionSettings: string[],
): { createPool(options: PoolOptions): MysqlPool } {
  return {
    createPool(options) {
      const hosts = addresses.map(
        ({ host, port }) =>
          new MysqlHost({ ...options, host, port, ...tlsOptions(tls, host, port) }, sessionSettings),
      );
      databaseConnections.provide(() => sumConnections(hosts.map((host) => host.connections)));
      return {
        getConnection: callbackify(() => acquire(hosts, 'statements')),
        getTransactionConnection: () => acquire(hosts, 'transactions'),
        end: callbackify(() => endAll(hosts)),
      };
    },
  };
}

async function acquire(hosts: MysqlHost[], use: ConnectionUse): Promise<PoolConnection> {
  const deadline = performance.now() + ACQUIRE_TIMEOUT_MS;
  let failure: MysqlError | undefined;
  for (const host of hosts) {
    const left = deadline - performance.now();
    if (!host.available || left <= 0) continue;
    try {
      return await host.acquire(use, left);
    } catch (error) {
      failure = error as MysqlError;
      // This host is healthy but busy, or refuses us for a reason that other hosts share.
      if (host.available) break;
    }
  }
  throw failure ?? databaseError('NO_DATABASE_HOST', 'No database host can be used right now');
}

async function endAll(hosts: MysqlHost[]): Promise<void> {
  await Promise.all(hosts.map((host) => host.close()));
}
