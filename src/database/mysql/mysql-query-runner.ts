import type { PoolConnection, QueryError } from 'mysql2';
import { type DataSource, QueryFailedError, QueryResult, type QueryRunner } from 'typeorm';
import { queryBegins } from '../../telemetry/tracing/spans.js';
import { databaseError, storageSpace } from '../transactions/database-errors.js';
import { refuseInsideTransaction } from '../transactions/transaction.js';
import { runAlone } from '../transactions/transactions.js';

/** A pool as TypeORM takes it. */
export interface MysqlPool {
  getConnection(callback: (error: NodeJS.ErrnoException | null, connection?: PoolConnection) => void): void;
  noteFailure(connection: PoolConnection, sql: string, error: QueryError): void;
  end(callback: (error: Error | null) => void): void;
}

interface MysqlQueryRunner extends QueryRunner {
  isTransactionActive: boolean;
  databaseConnection: PoolConnection | undefined;
}

type Runner = new (...args: unknown[]) => MysqlQueryRunner;

interface MysqlDriver {
  pool: MysqlPool;
  createQueryRunner(mode: 'master' | 'slave'): QueryRunner;
}

// Replaces TypeORM's query runner to leave out what this service does not use: subscribers, the query log (it prints
// parameters), nested transactions, and mysql2's promise layer, which takes a stack trace for each statement.
export function installMysqlQueryRunner(
  dataSource: DataSource,
  silenceTimeoutMs: number | undefined,
): DataSource {
  const driver = dataSource.driver as unknown as MysqlDriver;
  const BaseQueryRunner = driver.createQueryRunner('master').constructor as Runner;

  class ServiceQueryRunner extends BaseQueryRunner {
    override async startTransaction(): Promise<void> {
      await this.connect();
      // Also if no answer comes, the connection may have a transaction.
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
      const ended = queryBegins(sql);
      try {
        const raw = await sendStatement(connection, sql, values, silenceTimeoutMs);
        ended();
        return (structured ? structuredResult(raw) : raw) as never;
      } catch (error) {
        ended(error);
        driver.pool.noteFailure(connection, sql, error as QueryError);
        const failure = new QueryFailedError(sql, values, error as QueryError);
        storageSpace.noteFailure(failure);
        throw failure;
      }
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

/** makes this limit later than mysql2's own, whose error says more */
const MARGIN_MS = 500;

// Ends in time whatever becomes of the connection: mysql2 stops its own clock at the first packet of an answer.
export function sendStatement(
  connection: Pick<PoolConnection, 'query'>,
  sql: string,
  values: unknown[],
  timeout: number | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer =
      timeout === undefined ? undefined : setTimeout(() => reject(noAnswer()), timeout + MARGIN_MS);
    connection.query({ sql, timeout }, values, (error: QueryError | null, result: unknown) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result);
    });
  });
}

function noAnswer(): Error {
  return databaseError('PROTOCOL_SEQUENCE_TIMEOUT', 'The rest of the answer did not come in time');
}
