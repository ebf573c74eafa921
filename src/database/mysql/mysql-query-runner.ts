import { channel } from 'node:diagnostics_channel';
import type { PoolConnection, QueryError } from 'mysql2';
import { type DataSource, QueryFailedError, QueryResult, type QueryRunner } from 'typeorm';
import { queryBegins } from '../../telemetry/tracing/spans.js';
import { databaseError, SILENCE, refusedWrites } from '../transactions/database-errors.js';
import { refuseInsideTransaction, runAlone } from '../transactions/transactions.js';

export interface MysqlPool {
  getConnection(callback: (error: NodeJS.ErrnoException | null, connection?: PoolConnection) => void): void;
  /** Returns true if the host is at fault, and the connection was destroyed. */
  noteFailure(connection: PoolConnection, sql: string, error: QueryError): boolean;
  end(callback: (error: Error | null) => void): void;
}

interface MysqlQueryRunner extends QueryRunner {
  isTransactionActive: boolean;
  databaseConnection: PoolConnection | undefined;
  databaseConnectionPromise: Promise<PoolConnection> | undefined;
}

type MysqlRunnerClass = new (...args: unknown[]) => MysqlQueryRunner;

interface MysqlDriver {
  pool: MysqlPool;
  createQueryRunner(mode: 'master' | 'slave'): QueryRunner;
}

/** The tests listen. */
const statements = channel('accounts.mysql');

/**
 * Omits the query log of TypeORM, which prints parameters, its subscribers and nested transactions, and the promises of
 * mysql2, which take a stack trace for each statement.
 *
 * @floor each operation on MariaDB: saves nine tenths of TypeORM's part of a statement
 */
export function installMysqlQueryRunner(dataSource: DataSource, timeoutMs: number | undefined): DataSource {
  const driver = dataSource.driver as unknown as MysqlDriver;
  const BaseQueryRunner = driver.createQueryRunner('master').constructor as MysqlRunnerClass;

  class ServiceQueryRunner extends BaseQueryRunner {
    override async startTransaction(): Promise<void> {
      await this.connect();
      // If the server does not answer, the connection may have a transaction as well.
      this.isTransactionActive = true;
      await this.query('START TRANSACTION');
    }

    override async commitTransaction(): Promise<void> {
      await this.query('COMMIT');
      this.isTransactionActive = false;
    }

    override async rollbackTransaction(): Promise<void> {
      if (!this.isTransactionActive) return;
      await this.query('ROLLBACK');
      this.isTransactionActive = false;
    }

    /** Destroys the connection of an open transaction, which must not become part of the next one. */
    override async release(): Promise<void> {
      if (this.isTransactionActive) this.databaseConnection?.destroy();
      else await super.release();
    }

    override query(sql: string, values?: unknown[], structured?: boolean): Promise<never> {
      const send = (): Promise<never> => this.send(sql, values, structured);
      return this.isTransactionActive ? send() : runAlone(sql, send);
    }

    private async send(sql: string, values: unknown[] = [], structured?: boolean): Promise<never> {
      const connection = (await this.connect()) as PoolConnection;
      statements.publish(sql);
      const ended = queryBegins(sql);
      try {
        const raw = await sendStatement(connection, sql, values, timeoutMs);
        ended();
        return (structured ? structuredResult(raw) : raw) as never;
      } catch (error) {
        ended(error);
        const isDestroyed = driver.pool.noteFailure(connection, sql, error as QueryError);
        if (isDestroyed && !this.isTransactionActive) this.forgetConnection();
        const failure = new QueryFailedError(sql, values, error as QueryError);
        refusedWrites.noteFailure(failure);
        throw failure;
      }
    }

    /** The statement may be repeated, on another host. */
    private forgetConnection(): void {
      this.databaseConnection = undefined;
      this.databaseConnectionPromise = undefined;
    }
  }

  driver.createQueryRunner = (mode) => {
    refuseInsideTransaction();
    return new ServiceQueryRunner(driver, mode);
  };
  return dataSource;
}

function structuredResult(raw: unknown): QueryResult {
  const result = new QueryResult();
  result.raw = raw;
  if (Array.isArray(raw)) result.records = raw;
  else result.affected = (raw as { affectedRows?: number }).affectedRows;
  return result;
}

/** Has its own timeout, because mysql2 stops its timer at the first packet of an answer. */
export function sendStatement(
  connection: Pick<PoolConnection, 'query'>,
  sql: string,
  values: unknown[],
  timeoutMs: number | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const noAnswer = (): void => reject(databaseError(SILENCE, 'The answer did not come in time'));
    const timer = timeoutMs === undefined ? undefined : setTimeout(noAnswer, timeoutMs);
    connection.query({ sql }, values, (error: QueryError | null, result: unknown) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result);
    });
  });
}
