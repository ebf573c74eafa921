import { Logger } from '@nestjs/common';
import { createPool, type Pool, type PoolConnection, type PoolOptions, type QueryError } from 'mysql2';
import { acquireTimeoutError, shareForTransactions } from '../transactions/connection-limits.js';
import { databaseError, isTlsRefusal } from '../transactions/database-errors.js';
import { applySettings, ping } from './session-settings.js';
import { countConnections, type OpenConnections } from './open-connections.js';
import { endInTime, once } from './statement-end.js';

export type MysqlError = NodeJS.ErrnoException;

const PROBE_PERIOD_MS = 1000;
const ER_NOT_PRIMARY = 1047;
const ER_LOCK_WAIT_TIMEOUT = 1205;
/** These statements take no row lock: one that waits, waits for the rest of its cluster. */
const TAKES_NO_LOCK = /^SELECT (?![\s\S]*FOR UPDATE)/;
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

export type ConnectionUse = 'statements' | 'transactions';

type Pools = Record<ConnectionUse, Pool>;

/** Saves the round trip of START TRANSACTION. */
const TRANSACTION_SETTING = 'SET SESSION autocommit = 0';

// A server and its pools. Transactions have their own, so that those that wait for a lock leave connections to
// statements that take none. A server that is unreachable, silent or not primary in its cluster is out of rotation
// until a probe succeeds, so that no request waits to find out again.
export class MysqlHost {
  private readonly logger = new Logger('Database');
  private pools: Pools;
  private probe: NodeJS.Timeout | undefined;
  private tlsRefused = false;
  private readonly preparing = new Map<PoolConnection, Promise<void>>();
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

  /** @throws an error with code POOL_ACQUIRE_TIMEOUT, or NO_DATABASE_HOST if the host was lost meanwhile */
  acquire(use: ConnectionUse, timeoutMs: number): Promise<PoolConnection> {
    const { pools } = this;
    return new Promise((resolve, reject) => {
      let waiting = true;
      const timer = setTimeout(() => {
        waiting = false;
        reject(acquireTimeoutError());
      }, timeoutMs);
      const refuse = (error: MysqlError | null): void => {
        clearTimeout(timer);
        if (error && HOST_LOST_CODES.has(error.code ?? '')) this.takeOutOfRotation(pools, error);
        // An ended pool rejects waiters with an error that has no code.
        const known = error?.code !== undefined && !isSilence(error);
        reject(known ? error : databaseError('NO_DATABASE_HOST', `${this.name} was lost meanwhile`));
      };
      const handOver = (connection: PoolConnection): void => {
        if (pools !== this.pools) return refuse(null);
        clearTimeout(timer);
        if (waiting) resolve(connection);
        else connection.release();
      };
      pools[use].getConnection((error: MysqlError | null, connection) => {
        if (error) refuse(error);
        else this.whenPrepared(connection, () => handOver(connection), refuse);
      });
    });
  }

  async close(): Promise<void> {
    clearInterval(this.probe);
    await endPools(this.pools);
  }

  private open(): Pools {
    const { connectionLimit = 2 } = this.options;
    const forTransactions = shareForTransactions(connectionLimit);
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

  private prepare(pools: Pools, connection: PoolConnection, settings: string[]): void {
    const query = connection.query.bind(connection) as (...parameters: unknown[]) => unknown;
    const watched = (...parameters: unknown[]): unknown => {
      const done = parameters.at(-1);
      if (typeof done !== 'function') return query(...parameters);
      const end = once((error: QueryError | null, ...results: unknown[]) => {
        if (error && isHostAtFault(error, textOf(parameters[0]))) {
          // The server may still run the statement, so the connection must not be reused.
          connection.destroy();
          this.takeOutOfRotation(pools, error);
        }
        (done as (...values: unknown[]) => void)(error, ...results);
      });
      return query(...parameters.slice(0, -1), endInTime(end, parameters[0]));
    };
    connection.query = watched as PoolConnection['query'];
    const preparing = applySettings(connection, settings, this.options.connectTimeout);
    this.preparing.set(connection, preparing);
    const forget = (): boolean => this.preparing.delete(connection);
    preparing.then(forget, forget);
  }

  private whenPrepared(
    connection: PoolConnection,
    then: () => void,
    refuse: (error: MysqlError) => void,
  ): void {
    const preparing = this.preparing.get(connection);
    if (preparing) preparing.then(then, refuse);
    else then();
  }

  /** Errors of earlier pools, such as late timeouts, say nothing about the server's present state. */
  private takeOutOfRotation(pools: Pools, error: MysqlError): void {
    if (!this.available || pools !== this.pools) return;
    this.logger.warn({ msg: 'database host taken out of rotation', host: this.name, code: error.code });
    this.probe = setInterval(() => void this.probeHost(), PROBE_PERIOD_MS);
    this.probe.unref();
    // Its idle connections may be dead, and each would cost a request.
    void endPools(this.pools);
    this.pools = this.open();
  }

  private async probeHost(): Promise<void> {
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

  /** Logs once: unlike a server that is down, one that refuses TLS does not recover by itself. */
  private reportTlsRefusal(error: unknown): void {
    if (this.tlsRefused || !isTlsRefusal(error)) return;
    this.tlsRefused = true;
    this.logger.warn({ msg: 'cannot connect to the database over TLS', host: this.name, err: error });
  }
}

async function endPools(pools: Pools): Promise<void> {
  await Promise.all(
    Object.values(pools).map((pool) => new Promise<void>((resolve) => pool.end(() => resolve()))),
  );
}

function isSilence(error: MysqlError): boolean {
  return error.code === 'PROTOCOL_SEQUENCE_TIMEOUT';
}

function isHostAtFault(error: QueryError, sql: string): boolean {
  return (
    isSilence(error) ||
    error.errno === ER_NOT_PRIMARY ||
    (error.errno === ER_LOCK_WAIT_TIMEOUT && TAKES_NO_LOCK.test(sql))
  );
}

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : (query as { sql: string }).sql;
}
