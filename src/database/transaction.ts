import { AsyncLocalStorage } from 'node:async_hooks';
import type { ObjectLiteral, QueryRunner, Repository } from 'typeorm';

/** A bug of ours: on SQLite it would wait for itself, elsewhere it would not be part of the transaction. */
export class OutsideTransactionError extends Error {
  constructor() {
    super('Inside a transaction use the Transaction that was passed');
  }
}

const current = new AsyncLocalStorage<Transaction>();

/** @throws OutsideTransactionError to code that runs inside a transaction which is still open */
export function refuseInsideTransaction(): void {
  if (current.getStore()?.isOpen) throw new OutsideTransactionError();
}

/** A transaction that is open: what runs through it takes effect together, or not at all. */
export class Transaction {
  private open = true;

  constructor(private readonly runner: QueryRunner) {}

  /** Ends a SELECT whose rows nobody may change before COMMIT. On SQLite a transaction is exclusive anyway. */
  get forUpdate(): string {
    return this.runner.dataSource.options.type === 'better-sqlite3' ? '' : ' FOR UPDATE';
  }

  get isOpen(): boolean {
    return this.open;
  }

  /** Runs the code of the transaction, which has no other way to the database until it has ended. */
  async perform<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    try {
      return await current.run(this, work, this);
    } finally {
      this.open = false;
    }
  }

  /** The repository's own calls, as part of this transaction. */
  of<Entity extends ObjectLiteral>(repository: Repository<Entity>): Repository<Entity> {
    return this.usableRunner().manager.withRepository(repository);
  }

  async read<Row>(sql: string, values: unknown[]): Promise<Row[]> {
    return (await this.usableRunner().query(sql, values)) as Row[];
  }

  /** Runs one INSERT, UPDATE or DELETE and tells how many rows it matched. */
  async write(sql: string, values: unknown[]): Promise<number> {
    const result = await this.usableRunner().query(sql, values, true);
    return result.affected ?? 0;
  }

  /** The connection of a transaction that has ended may be in use by another one. */
  private usableRunner(): QueryRunner {
    if (!this.open) throw new Error('The transaction has ended');
    return this.runner;
  }
}
