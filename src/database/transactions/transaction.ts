import { AsyncLocalStorage } from 'node:async_hooks';
import type { ObjectLiteral, QueryRunner, Repository } from 'typeorm';

/** A bug: on SQLite it would be a deadlock, elsewhere the work would escape the transaction. */
export class OutsideTransactionError extends Error {
  constructor() {
    super('Inside a transaction use the Transaction that was passed');
  }
}

const current = new AsyncLocalStorage<Transaction>();

export function refuseInsideTransaction(): void {
  if (current.getStore()?.isOpen) throw new OutsideTransactionError();
}

export class Transaction {
  private open = true;

  constructor(private readonly runner: QueryRunner) {}

  /** On SQLite a transaction is exclusive anyway. */
  get forUpdate(): string {
    return this.isExclusive ? '' : ' FOR UPDATE';
  }

  get forUpdateOfFree(): string {
    return this.isExclusive ? '' : ' FOR UPDATE SKIP LOCKED';
  }

  get isOpen(): boolean {
    return this.open;
  }

  async perform<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    try {
      return await current.run(this, work, this);
    } finally {
      this.open = false;
    }
  }

  of<Entity extends ObjectLiteral>(repository: Repository<Entity>): Repository<Entity> {
    return this.usableRunner().manager.withRepository(repository);
  }

  async read<Row>(sql: string, values: unknown[]): Promise<Row[]> {
    return (await this.usableRunner().query(sql, values)) as Row[];
  }

  /** @returns how many rows one INSERT, UPDATE or DELETE matched */
  async write(sql: string, values: unknown[]): Promise<number> {
    const result = await this.usableRunner().query(sql, values, true);
    return result.affected ?? 0;
  }

  private get isExclusive(): boolean {
    return this.runner.dataSource.options.type === 'better-sqlite3';
  }

  /** The connection of an ended transaction may already serve another one. */
  private usableRunner(): QueryRunner {
    if (!this.open) throw new Error('The transaction has ended');
    return this.runner;
  }
}
