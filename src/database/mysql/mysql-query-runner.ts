import type { PoolConnection, QueryError } from 'mysql2';
import { type DataSource, QueryFailedError, QueryResult, type QueryRunner } from 'typeorm';
import { queryBegins } from '../../telemetry/tracing/spans.js';
import { runAlone } from '../transactions/transactions.js';
import { storageSpace } from '../transactions/storage-space.js';
import { refuseInsideTransaction } from '../transactions/transaction.js';
import type { MysqlPool } from './mysql-driver.js';

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
      // Migrations begin a transaction on a connection that they have used before.
      if (this.databaseConnection) await this.query('START TRANSACTION');
      else this.databaseConnection = await driver.pool.getTransactionConnection();
      this.isTransactionActive = true;
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

    private async send(sql: string, values?: unknown[], structured?: boolean): Promise<never> {
      const connection = (await this.connect()) as PoolConnection;
      const raw = await run(connection, { sql, timeout: silenceTimeoutMs }, values ?? []);
      return (structured ? structuredResult(raw) : raw) as never;
    }
  }

  driver.createQueryRunner = (mode) => {
    refuseInsideTransaction();
    return new ServiceQueryRunner(driver, mode);
  };
  return dataSource;
}

function run(
  connection: PoolConnection,
  query: { sql: string; timeout?: number },
  values: unknown[],
): Promise<unknown> {
  const ended = queryBegins(query.sql);
  return new Promise((resolve, reject) => {
    connection.query(query, values, (error: QueryError | null, result: unknown) => {
      ended(error);
      if (!error) return resolve(result);
      const failure = new QueryFailedError(query.sql, values, error);
      storageSpace.noteFailure(failure);
      reject(failure);
    });
  });
}

function structuredResult(raw: unknown): QueryResult {
  const result = new QueryResult();
  result.raw = raw;
  if (Array.isArray(raw)) result.records = raw;
  else result.affected = (raw as { affectedRows?: number }).affectedRows;
  return result;
}
