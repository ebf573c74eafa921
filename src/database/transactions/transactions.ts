import { AsyncLocalStorage } from 'node:async_hooks';
import { DataSource, type ObjectLiteral, type QueryRunner, type Repository } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { conflictRetried } from '../../telemetry/metrics/measurements.js';
import { detectUnknownOutcome, isLostConflict, LostConflictError } from './database-errors.js';
import { TransactionQueue, type Turn } from './transaction-queue.js';

const current = new AsyncLocalStorage<Transaction>();

/** Without this check, a bug would deadlock on SQLite, and on MySQL the work would escape the transaction. */
export function refuseInsideTransaction(): void {
  if (current.getStore()?.isOpen) throw new Error('Inside a transaction use the Transaction that was passed');
}

export class Transaction {
  isOpen = true;
  readonly forUpdate: string;
  readonly forUpdateOfFree: string;

  constructor(private readonly runner: QueryRunner) {
    const isExclusive = runner.dataSource.options.type === 'better-sqlite3';
    this.forUpdate = isExclusive ? '' : ' FOR UPDATE';
    this.forUpdateOfFree = isExclusive ? '' : ' FOR UPDATE SKIP LOCKED';
  }

  async perform<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      return await current.run(this, work, this);
    } finally {
      this.isOpen = false;
    }
  }

  of<Entity extends ObjectLiteral>(repository: Repository<Entity>): Repository<Entity> {
    return this.usableRunner().manager.withRepository(repository);
  }

  async read<Row>(sql: string, values: unknown[]): Promise<Row[]> {
    return (await this.usableRunner().query(sql, values)) as Row[];
  }

  async write(sql: string, values: unknown[]): Promise<number> {
    const result = await this.usableRunner().query(sql, values, true);
    return result.affected ?? 0;
  }

  /** The connection of an ended transaction may already serve another transaction. */
  private usableRunner(): QueryRunner {
    if (!this.isOpen) throw new Error('The transaction has ended');
    return this.runner;
  }
}

// A count alone ends too soon if a cluster refuses commits; a time alone ends with one wait for a lock.
const MIN_RETRIES = 5;
const RETRY_FOR_MS = 3000;
const INITIAL_BACKOFF_MS = 10;
const MAX_BACKOFF_MS = 160;
/**
 * How many connections transactions may use. COMMIT waits for the disk, and those that wait together share the wait.
 *
 * @floor create, add, change, remove 0.33: 16 transactions take 0.77 to 0.89 of the CPU of ten for each change
 */
const SHARE_OF_POOL = 3 / 4;
const WRITE = /^\s*(?:INSERT|UPDATE|DELETE)\b/i;

export async function retryLostConflicts<T>(
  work: () => Promise<T>,
  pause: (ms: number) => Promise<void> = sleep,
): Promise<T> {
  const begun = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLostConflict(error)) throw error;
      if (attempt >= MIN_RETRIES && performance.now() - begun >= RETRY_FOR_MS)
        throw new LostConflictError(error);
      conflictRetried.emit();
      await pause(Math.min(INITIAL_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS) * (0.5 + Math.random()));
    }
  }
}

/** @throws LostConflictError, or UnknownOutcomeError if the database did not answer a write */
export function runAlone<T>(sql: string, send: () => Promise<T>): Promise<T> {
  return retryLostConflicts(WRITE.test(sql) ? () => detectUnknownOutcome(send) : send);
}

/** How a change ended. `Transactions` rolls back unless it is done. */
export type ChangeOutcome<Answer, Same = undefined> = Done<Answer> | Unchanged<Same> | Gone;

export interface Done<Answer> {
  kind: 'done';
  answer: Answer;
}

export class Unchanged<Answer> {
  readonly kind = 'unchanged';
  constructor(readonly answer: Answer) {}
}

/** The row to change is not there. */
export class Gone {
  readonly kind = 'gone';
}

export const UNCHANGED = new Unchanged(undefined);

export function doneUnlessUnchanged<Answer, Same>(
  result: Answer | Unchanged<Same>,
): Done<Answer> | Unchanged<Same> {
  return result instanceof Unchanged ? result : { kind: 'done', answer: result };
}

/** Retries transactions that lost a conflict, so they must change nothing outside the database. */
@Injectable()
export class Transactions {
  private readonly queue: TransactionQueue;

  constructor(private readonly dataSource: DataSource) {
    const { type, poolSize = 2 } = dataSource.options;
    const isSqlite = type === 'better-sqlite3';
    // The other connections serve statements that wait for no lock.
    const connections = Math.max(1, Math.floor(poolSize * SHARE_OF_POOL));
    this.queue = new TransactionQueue(isSqlite ? 1 : connections, isSqlite);
  }

  /** @throws LostConflictError, UnknownOutcomeError if COMMIT got no answer, UnavailableError if the queue is full */
  async run<T>(turn: Turn, work: (tx: Transaction) => Promise<T>): Promise<T> {
    refuseInsideTransaction();
    // The queue distinguishes turns by identity.
    const ownTurn = { ...turn };
    try {
      await this.queue.enter(ownTurn);
      const pause = (ms: number): Promise<void> => this.queue.pause(ownTurn, () => sleep(ms));
      return await retryLostConflicts(() => this.attempt(work), pause);
    } finally {
      this.queue.leave(ownTurn);
    }
  }

  async write(sql: string, values: unknown[]): Promise<number> {
    const runner = this.dataSource.createQueryRunner();
    try {
      return (await runner.query(sql, values, true)).affected ?? 0;
    } finally {
      await runner.release();
    }
  }

  private async attempt<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const result = await new Transaction(runner).perform(work);
      if (result instanceof Unchanged || result instanceof Gone) await rollBack(runner);
      else await detectUnknownOutcome(() => runner.commitTransaction());
      return result;
    } catch (error) {
      await rollBack(runner);
      throw error;
    } finally {
      await runner.release();
    }
  }
}

async function rollBack(runner: QueryRunner): Promise<void> {
  await runner.rollbackTransaction().catch(() => undefined);
}
