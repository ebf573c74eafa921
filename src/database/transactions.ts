import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { retryLostConflicts } from './retries.js';
import { refuseInsideTransaction, Transaction } from './transaction.js';
import { transactionConnections } from './transaction-connections.js';
import { TransactionQueue, type Turn } from './transaction-queue.js';
import { detectUnknownOutcome } from './unknown-outcome.error.js';

// Retries units of work that lost a conflict, so they must have no effect outside the database: no hashing, no mail, no
// answer to the client. A COMMIT without an answer is not retried: it may have taken effect.
@Injectable()
export class Transactions {
  private readonly queue: TransactionQueue;

  constructor(private readonly dataSource: DataSource) {
    const { options } = dataSource;
    const yields = options.type === 'better-sqlite3';
    this.queue = new TransactionQueue(transactionConnections(options), { yields });
  }

  /** @throws LostConflictError, UnknownOutcomeError if COMMIT was not answered, UnavailableError if too much waits */
  async run<T>(work: (transaction: Transaction) => Promise<T>, turn: Turn = {}): Promise<T> {
    // Refuse first, or it would wait for a place that the transaction around it holds.
    refuseInsideTransaction();
    const place = await this.queue.enter(turn);
    const pause = (ms: number): Promise<void> => place.pause(() => sleep(ms));
    try {
      return await retryLostConflicts(() => this.attempt(work), pause);
    } finally {
      place.leave();
    }
  }

  /** @throws LostConflictError, UnknownOutcomeError */
  async write(sql: string, values: unknown[]): Promise<number> {
    const runner = this.dataSource.createQueryRunner();
    try {
      return (await runner.query(sql, values, true)).affected ?? 0;
    } finally {
      await runner.release();
    }
  }

  private async attempt<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const result = await new Transaction(runner).perform(work);
      await detectUnknownOutcome(() => runner.commitTransaction());
      return result;
    } catch (error) {
      // Report the first failure; a lost connection cannot and need not roll back.
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }
}
