import { Logger } from '@nestjs/common';
import { createPool, type Pool, type PoolConnection, type PoolOptions, type QueryError } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import { acquireTimeoutError } from '../acquire-timeout.js';
import { databaseError, isTlsRefusal } from '../database-errors.js';
import { countConnections, type OpenConnections } from './open-connections.js';

export type MysqlError = NodeJS.ErrnoException;

const PROBE_PERIOD_MS = 1000;
const PROBE_TIMEOUT_MS = 1000;

const ER_NOT_PRIMARY = 1047;
const ER_LOCK_WAIT_TIMEOUT = 1205;
/** Waits for no row lock: what it waits for in vain is the rest of its cluster. */
const TAKES_NO_LOCK = /^SELECT (?![\s\S]*FOR UPDATE)/;
const HOST_IS_GONE = new Set([
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

/** What a connection is used for: single statements, each of which commits, or transactions, which begin by themselves. */
export type ConnectionUse = 'statements' | 'transactions';

type Pools = Record<ConnectionUse, Pool>;

/** In a transaction from its first statement on: a START TRANSACTION would be one more round trip for each. */
const TRANSACTION_SETTING = 'SET SESSION autocommit = 0';

/**
 * One database server: its pools, and whether it is worth asking. Transactions have connections of their own, so those
 * that wait for a lock leave the other half to what takes none. A server that cannot be reached, does not
 * answer, or is no primary member of its cluster is taken out of rotation until a probe of our own succeeds, so
 * that no request waits to find that out again.
 */
export class MysqlHost {
  private readonly logger = new Logger('Database');
  private pools: Pools;
  private probe: NodeJS.Timeout | undefined;
  private tlsRefused = false;
  private readonly name: string;

  constructor(
    private readonly options: PoolOptions,
    private readonly sessionSettings: string[],
  ) {
    this.name = `${options.host}:${options.port}`;
    this.pools = this.open();
  }

  get available(): boolean {
    return this.probe === undefined;
  }

  get connections(): OpenConnections {
    return countConnections(Object.values(this.pools));
  }

  /**
   * @throws an error with code POOL_ACQUIRE_TIMEOUT when no connection became free in time, or NO_DATABASE_HOST
   *   when the server was left while waiting for one
   */
  acquire(use: ConnectionUse, timeoutMs: number): Promise<PoolConnection> {
    const { pools } = this;
    return new Promise((resolve, reject) => {
      let waiting = true;
      const timer = setTimeout(() => {
        waiting = false;
        reject(acquireTimeoutError());
      }, timeoutMs);
      pools[use].getConnection((error: MysqlError | null, connection) => {
        clearTimeout(timer);
        if (error && HOST_IS_GONE.has(error.code ?? '')) this.leave(pools, error);
        if (error?.code !== undefined) reject(error);
        // A pool that was ended tells those who wait with an error that has no code.
        else if (error || pools !== this.pools) {
          reject(databaseError('NO_DATABASE_HOST', `${this.name} was left meanwhile`));
        } else if (waiting) resolve(connection);
        else connection.release();
      });
    });
  }

  /** What goes wrong with a connection that is being closed does not matter any more. */
  async close(): Promise<void> {
    clearInterval(this.probe);
    await endPools(this.pools);
  }

  private open(): Pools {
    const { connectionLimit = 2 } = this.options;
    const forTransactions = Math.floor(connectionLimit / 2);
    const openPool = (limit: number, settings: string[]): Pool => {
      const pool = createPool({ ...this.options, connectionLimit: limit });
      pool.on('connection', (connection) => this.prepare(pools, connection, settings));
      return pool;
    };
    const pools: Pools = {
      statements: openPool(connectionLimit - forTransactions, this.sessionSettings),
      transactions: openPool(forTransactions, [...this.sessionSettings, TRANSACTION_SETTING]),
    };
    return pools;
  }

  /** The settings go first on the wire; whatever fails on the connection is looked at. */
  private prepare(pools: Pools, connection: PoolConnection, settings: string[]): void {
    const query = connection.query.bind(connection) as (...parameters: unknown[]) => unknown;
    const watched = (...parameters: unknown[]): unknown => {
      const done = parameters.at(-1);
      if (typeof done !== 'function') return query(...parameters);
      return query(...parameters.slice(0, -1), (error: QueryError | null, ...results: unknown[]) => {
        if (error && isHostAtFault(error, textOf(parameters[0]))) {
          // The server may still be at work on the statement: nobody must get this connection after us.
          connection.destroy();
          this.leave(pools, error);
        }
        (done as (...values: unknown[]) => void)(error, ...results);
      });
    };
    connection.query = watched as PoolConnection['query'];
    for (const setting of settings) {
      connection.query(setting, (error) => {
        if (error) connection.destroy();
      });
    }
  }

  /** What earlier pools still meet, such as their last time-outs, says nothing about the server of now. */
  private leave(pools: Pools, error: MysqlError): void {
    if (!this.available || pools !== this.pools) return;
    this.logger.warn({ msg: 'database host left', host: this.name, code: error.code });
    this.probe = setInterval(() => void this.tryAgain(), PROBE_PERIOD_MS);
    this.probe.unref();
    // Its idle connections may lead nowhere, and each would be found out by a request of its own.
    void endPools(this.pools);
    this.pools = this.open();
  }

  private async tryAgain(): Promise<void> {
    try {
      await ping(this.options);
    } catch (error) {
      this.reportTlsRefusal(error);
      return;
    }
    if (this.available) return;
    this.tlsRefused = false;
    clearInterval(this.probe);
    this.probe = undefined;
    this.logger.log({ msg: 'database host is back', host: this.name });
  }

  /** Once: unlike a server that is down, it will not come back by itself. */
  private reportTlsRefusal(error: unknown): void {
    if (this.tlsRefused || !isTlsRefusal(error)) return;
    this.tlsRefused = true;
    this.logger.warn({ msg: 'no TLS connection to the database can be made', host: this.name, err: error });
  }
}

async function endPools(pools: Pools): Promise<void> {
  await Promise.all(
    Object.values(pools).map((pool) => new Promise<void>((resolve) => pool.end(() => resolve()))),
  );
}

function isHostAtFault(error: QueryError, sql: string): boolean {
  return (
    error.code === 'PROTOCOL_SEQUENCE_TIMEOUT' ||
    error.errno === ER_NOT_PRIMARY ||
    (error.errno === ER_LOCK_WAIT_TIMEOUT && TAKES_NO_LOCK.test(sql))
  );
}

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : (query as { sql: string }).sql;
}

/** DO, since a cluster member that is not primary answers pings, and can answer SELECT 1. */
async function ping({ host, port, user, password, ssl, stream }: PoolOptions): Promise<void> {
  const login = { host, port, user, password, ssl, stream };
  const connection = await createConnection({ ...login, connectTimeout: PROBE_TIMEOUT_MS });
  try {
    await connection.query({ sql: 'DO 1', timeout: PROBE_TIMEOUT_MS });
  } finally {
    connection.destroy();
  }
}
