import { channel } from 'node:diagnostics_channel';
import type { SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type DataSource, QueryFailedError, QueryResult, type QueryRunner } from 'typeorm';
import { databaseConnections } from '../../telemetry/metrics/measurements.js';
import { queryBegins } from '../../telemetry/tracing/spans.js';
import {
  ACQUIRE_TIMEOUT_MS,
  acquireTimeoutError,
  isFileBusy,
  refusedWrites,
} from '../transactions/database-errors.js';
import { FairQueue } from '../transactions/fair-queue.js';
import { refuseInsideTransaction, runAlone } from '../transactions/transactions.js';
import type { NodeSqlite } from './node-sqlite.js';

type SqliteRunnerClass = new (...args: unknown[]) => QueryRunner & { isTransactionActive: boolean };

interface SqliteDriver {
  databaseConnection: NodeSqlite;
  createQueryRunner(mode: 'master' | 'slave'): QueryRunner;
}

/** The tests listen. */
const statements = channel('accounts.sqlite');

// TypeORM's SQLite drivers share one query runner, so that a rollback undoes committed writes of others. Here every
// transaction has its own. Omits the query log, which prints parameters.
export function installSqliteQueryRunner(dataSource: DataSource): DataSource {
  const driver = dataSource.driver as unknown as SqliteDriver;
  const BaseQueryRunner = driver.createQueryRunner('master').constructor as SqliteRunnerClass;
  const mutex = new Mutex();
  databaseConnections.read = () => (mutex.isFree ? { idle: 1, inUse: 0 } : { idle: 0, inUse: 1 });

  class ServiceQueryRunner extends BaseQueryRunner {
    private leave: (() => void) | undefined;

    // A deferred transaction can fail at its first write (SQLITE_BUSY_SNAPSHOT) with no way to wait.
    override startTransaction(): Promise<void> {
      return whenFree(() => this.begin());
    }

    private async begin(): Promise<void> {
      this.leave ??= await mutex.enter();
      try {
        run(driver.databaseConnection, 'BEGIN IMMEDIATE', []);
        this.isTransactionActive = true;
      } catch (error) {
        if (!this.isTransactionActive) this.end();
        throw error;
      }
    }

    override async commitTransaction(): Promise<void> {
      run(driver.databaseConnection, 'COMMIT', []);
      this.isTransactionActive = false;
      this.end();
    }

    override async rollbackTransaction(): Promise<void> {
      if (!this.isTransactionActive) return;
      this.isTransactionActive = false;
      try {
        run(driver.databaseConnection, 'ROLLBACK', []);
      } finally {
        this.end();
      }
    }

    override async release(): Promise<void> {
      this.end();
      await super.release();
    }

    override query(sql: string, values: unknown[] = [], structured?: boolean): Promise<never> {
      const send = (): Promise<never> => this.send(sql, values, structured);
      return this.isTransactionActive ? send() : runAlone(sql, () => whenFree(send));
    }

    private async send(sql: string, values: unknown[], structured?: boolean): Promise<never> {
      // A statement is synchronous, so it needs the mutex only to wait for a transaction.
      const leave = this.leave || mutex.isFree ? undefined : await mutex.enter();
      try {
        const result = run(driver.databaseConnection, sql, values);
        return (structured ? result : result.raw) as never;
      } finally {
        leave?.();
      }
    }

    private end(): void {
      this.leave?.();
      this.leave = undefined;
    }
  }

  driver.createQueryRunner = () => {
    refuseInsideTransaction();
    return new ServiceQueryRunner(driver);
  };
  return dataSource;
}

function run(database: NodeSqlite, sql: string, values: unknown[]): QueryResult {
  statements.publish(sql);
  const ended = queryBegins(sql);
  const result = new QueryResult();
  try {
    const statement = database.prepare(sql);
    if (statement.reader) {
      result.raw = result.records = statement.all(...(values as SQLInputValue[]));
    } else {
      const { changes, lastInsertRowid } = statement.run(...(values as SQLInputValue[]));
      result.affected = Number(changes);
      result.raw = lastInsertRowid;
    }
    ended();
    return result;
  } catch (error) {
    ended(error);
    const failure = new QueryFailedError(sql, values, error as Error);
    refusedWrites.noteFailure(failure);
    throw failure;
  }
}

export class Mutex {
  private held = false;
  private readonly queue = new FairQueue({
    maxWaiting: () => Number.POSITIVE_INFINITY,
    timeoutMs: ACQUIRE_TIMEOUT_MS,
    busy: acquireTimeoutError,
    tooLate: acquireTimeoutError,
  });

  get isFree(): boolean {
    return !this.held;
  }

  async enter(): Promise<() => void> {
    if (this.held) await this.queue.wait('', undefined);
    this.held = true;
    return this.leave;
  }

  private readonly leave = (): void => {
    const next = this.queue.takeNext();
    this.held = next !== undefined;
    next?.begin();
  };
}

const POLL_MS = 5;
const WARN_AFTER_MS = 100;

/** Polls while another process writes to the file, because SQLite's own wait would block this process. */
async function whenFree<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  let isWarned = false;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isFileBusy(error)) throw error;
      const waitedMs = performance.now() - began;
      if (waitedMs > ACQUIRE_TIMEOUT_MS) throw acquireTimeoutError();
      if (waitedMs > WARN_AFTER_MS && !isWarned) {
        new Logger('Database').warn('another process keeps the database file locked');
        isWarned = true;
      }
    }
    await sleep(POLL_MS);
  }
}
