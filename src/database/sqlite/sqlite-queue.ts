import type { DataSource, QueryRunner } from 'typeorm';

type Runner = new (...args: unknown[]) => QueryRunner;

interface SqliteDriver {
  createQueryRunner(mode: 'master' | 'slave'): QueryRunner;
}

/** First come, first served: one holder at a time. */
class Turnstile {
  private last: Promise<void> = Promise.resolve();

  async enter(): Promise<() => void> {
    const before = this.last;
    let leave: () => void = () => undefined;
    this.last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    return leave;
  }
}

/**
 * TypeORM's SQLite drivers give every caller the same query runner on the same connection, so concurrent
 * transactions interleave and a rollback takes acknowledged writes of others with it. Here every unit of
 * work (a transaction, or one statement outside any) gets a runner of its own and waits its turn.
 *
 * Inside a transaction only its own runner may be used: a repository of the outside would wait for
 * the turn that the transaction itself holds.
 */
export function serializeSqlite(dataSource: DataSource): DataSource {
  const driver = dataSource.driver as unknown as SqliteDriver;
  const Stock = driver.createQueryRunner('master').constructor as Runner;
  const turnstile = new Turnstile();

  class SerialQueryRunner extends Stock {
    private leave: (() => void) | undefined;

    override async startTransaction(): Promise<void> {
      this.leave ??= await turnstile.enter();
      try {
        await super.startTransaction();
      } catch (error) {
        if (!this.isTransactionActive) this.end();
        throw error;
      }
    }

    override async commitTransaction(): Promise<void> {
      await super.commitTransaction();
      if (!this.isTransactionActive) this.end();
    }

    override async rollbackTransaction(): Promise<void> {
      try {
        await super.rollbackTransaction();
      } finally {
        if (!this.isTransactionActive) this.end();
      }
    }

    override async release(): Promise<void> {
      this.end();
      await super.release();
    }

    // IMMEDIATE takes the write lock at once: a deferred transaction that reads first can fail at its first
    // write (SQLITE_BUSY_SNAPSHOT) with no way to wait.
    override async query(sql: string, values?: unknown[], structured?: boolean): Promise<never> {
      const text = sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql;
      if (this.leave) return super.query(text, values, structured as true) as Promise<never>;

      const leave = await turnstile.enter();
      try {
        return (await super.query(text, values, structured as true)) as never;
      } finally {
        leave();
      }
    }

    private end(): void {
      this.leave?.();
      this.leave = undefined;
    }
  }

  driver.createQueryRunner = () => new SerialQueryRunner(driver);
  return dataSource;
}
