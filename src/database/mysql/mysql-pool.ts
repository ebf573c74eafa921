import { Logger } from '@nestjs/common';
import { createPool, type Pool, type PoolConnection, type PoolOptions, type QueryError } from 'mysql2';
import { setTimeout as sleep } from 'node:timers/promises';
import { callbackify, promisify } from 'node:util';
import type { DataSourceOptions } from 'typeorm';
import {
  ACQUIRE_TIMEOUT_MS,
  acquireTimeoutError,
  databaseError,
  isLockWaitTimeout,
  isTlsRefusal,
  type ConnectionPurpose,
  SILENCE,
} from '../transactions/database-errors.js';
import {
  identifyMysqlServer,
  ping,
  sessionSettings,
  STATEMENT_TIMEOUT_SECONDS,
  tlsOptions,
} from './mysql-server.js';
import { type MysqlPool, sendStatement } from './mysql-query-runner.js';
import type { MysqlLocation } from '../../config/database-url.js';
import { databaseConnections } from '../../telemetry/metrics/measurements.js';

const PROBE_PERIOD_MS = 1000;
const ER_NOT_PRIMARY = 1047;
/** A statement that takes no row lock waits only for the cluster. */
const TAKES_NO_LOCK = /^(?:START TRANSACTION|SELECT (?![\s\S]*FOR UPDATE))/;
const HOST_LOST_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'HANDSHAKE_SSL_ERROR',
]);

/** mysql2 counts connections only in these private lists. */
type ListedPool = Record<'_allConnections' | '_freeConnections', { length: number }>;

/** No request waits for a host that is unreachable, silent or not primary in its cluster, until a probe succeeds. */
export class MysqlHost {
  private readonly logger = new Logger('Database');
  private pool: Pool;
  private probe: NodeJS.Timeout | undefined;
  private tlsRefused = false;
  private isClosed = false;
  private readonly prepared = new WeakMap<PoolConnection, Pool>();
  private readonly name: string;

  constructor(
    private readonly options: PoolOptions,
    private readonly settings: string[],
  ) {
    this.name = `${options.host}:${options.port}`;
    this.pool = createPool(options);
  }

  get available(): boolean {
    return this.probe === undefined;
  }

  get connections(): { idle: number; inUse: number } {
    const { _allConnections: all, _freeConnections: free } = this.pool as unknown as ListedPool;
    return { idle: free.length, inUse: all.length - free.length };
  }

  /** @throws POOL_ACQUIRE_TIMEOUT, or NO_DATABASE_HOST if the host was lost meanwhile */
  async acquire(timeoutMs: number): Promise<PoolConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<PoolConnection>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(acquireTimeoutError());
    }, timeoutMs);
    this.take(this.pool).then((connection) => (isLate ? connection.release() : resolve(connection)), reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  noteFailure(connection: PoolConnection, sql: string, error: QueryError): boolean {
    const pool = this.prepared.get(connection);
    if (!pool || !isHostAtFault(error, sql)) return false;
    // The server may still run the statement, so the connection must not be reused.
    connection.destroy();
    this.takeOutOfRotation(pool, error);
    return true;
  }

  /** A host that fell silent never confirms the end of its connections. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.probe);
    const over = new AbortController();
    const silence = sleep(this.options.connectTimeout, undefined, { signal: over.signal }).catch(
      () => undefined,
    );
    await Promise.race([endPool(this.pool), silence]);
    over.abort();
  }

  private async take(pool: Pool): Promise<PoolConnection> {
    try {
      const connection = await promisify<PoolConnection>((done) => pool.getConnection(done))();
      if (!this.prepared.has(connection)) await this.prepare(pool, connection);
      if (pool === this.pool) return connection;
    } catch (error) {
      const failure = error as QueryError;
      if (HOST_LOST_CODES.has(failure.code ?? '') || isHostAtFault(failure))
        this.takeOutOfRotation(pool, failure);
      // The error of an ended pool has no code.
      // Whatever the server's reason, no statement was sent: the database is unavailable.
      if (failure.code !== undefined && failure.code !== SILENCE)
        throw Object.assign(failure, { fatal: true });
    }
    throw databaseError('NO_DATABASE_HOST', `${this.name} was lost meanwhile`);
  }

  /** Waits for each setting, because mysql2 silently drops queries that wait on a destroyed connection. */
  private async prepare(pool: Pool, connection: PoolConnection): Promise<void> {
    try {
      for (const sql of this.settings) await sendStatement(connection, sql, [], this.options.connectTimeout);
      this.prepared.set(connection, pool);
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  private takeOutOfRotation(pool: Pool, error: NodeJS.ErrnoException): void {
    if (this.isClosed || !this.available || pool !== this.pool) return;
    this.logger.warn({ msg: 'database host taken out of rotation', host: this.name, code: error.code });
    this.probe = setInterval(() => void this.probeHost(), PROBE_PERIOD_MS);
    this.probe.unref();
    void endPool(this.pool);
    this.pool = createPool(this.options);
  }

  private async probeHost(): Promise<void> {
    try {
      await ping(this.options);
    } catch (error) {
      // A server that refuses TLS does not recover by itself.
      if (!isTlsRefusal(error) || this.tlsRefused) return;
      this.tlsRefused = true;
      this.logger.warn({ msg: 'cannot connect to the database over TLS', host: this.name, err: error });
      return;
    }
    if (this.available) return;
    this.tlsRefused = false;
    clearInterval(this.probe);
    this.probe = undefined;
    this.logger.log({ msg: 'database host is back', host: this.name });
  }
}

function endPool(pool: Pool): Promise<void> {
  return new Promise((resolve) => pool.end(() => resolve()));
}

function isHostAtFault(error: QueryError, sql = ''): boolean {
  return (
    error.code === SILENCE ||
    error.errno === ER_NOT_PRIMARY ||
    (isLockWaitTimeout(error) && TAKES_NO_LOCK.test(sql))
  );
}

/** No statement is prepared; for the 16,000 of mysql2's default, each connection reserves half a megabyte. */
const UNPREPARED = { maxPreparedStatements: 1 };
const CONNECT_TIMEOUT_MS = 3000;
const CONNECT_TIMEOUT_OF_SEVERAL_MS = 1000;
/** longer than the limit of the server itself, so that it ends a statement only if the server hangs */
const SILENCE_TIMEOUT_MS = STATEMENT_TIMEOUT_SECONDS * 1000 + 500;

export async function mysqlOptions(
  location: MysqlLocation,
  poolSize: number,
  purpose: ConnectionPurpose,
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
    // A migration uses one connection, and renews its lease on another.
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
          new MysqlHost({ ...options, ...UNPREPARED, host, port, ...tlsOptions(tls, host, port) }, settings),
      );
      const count = (kind: 'idle' | 'inUse'): number =>
        hosts.reduce((sum, { connections }) => sum + connections[kind], 0);
      databaseConnections.read = () => ({
        idle: count('idle'),
        inUse: count('inUse'),
        poolSize: options.connectionLimit,
      });
      return {
        getConnection: callbackify(() => acquire(hosts)),
        noteFailure: (connection, sql, error) =>
          hosts.some((host) => host.noteFailure(connection, sql, error)),
        end: callbackify(async () => {
          await Promise.all(hosts.map((host) => host.close()));
        }),
      };
    },
  };
}

async function acquire(hosts: MysqlHost[]): Promise<PoolConnection> {
  const deadline = performance.now() + ACQUIRE_TIMEOUT_MS;
  let failure: unknown;
  for (const host of hosts) {
    const left = deadline - performance.now();
    if (!host.available || left <= 0) continue;
    try {
      return await host.acquire(left);
    } catch (error) {
      failure = error;
      // An available host is busy, or refuses for a reason that the other hosts share.
      if (host.available) break;
    }
  }
  throw failure ?? databaseError('NO_DATABASE_HOST', 'No database host can be used right now');
}
