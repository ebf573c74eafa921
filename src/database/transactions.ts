import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { retryLostConflicts } from './retries.js';
import { Transaction } from './transaction.js';
import { takeEffect } from './unknown-outcome.error.js';

/**
 * Runs units of work. One that lost a conflict is run again, so it must have no effect outside the database:
 * no hashing, no mail, nothing that answers the client. One whose COMMIT got no answer is not: it may have
 * taken effect.
 */
@Injectable()
export class Transactions {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Several statements that take effect together; resolves after COMMIT. Until then the work has no other way
   * to the database than its Transaction.
   *
   * @throws LostConflictError when every attempt lost
   * @throws UnknownOutcomeError when COMMIT was not answered
   * @throws OutsideTransactionError to work that uses anything else
   */
  run<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return retryLostConflicts(() => this.attempt(work));
  }

  /**
   * One statement by itself, where the number of rows that it matches decides.
   *
   * @throws LostConflictError, UnknownOutcomeError
   */
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
      await takeEffect(() => runner.commitTransaction());
      return result;
    } catch (error) {
      // What went wrong first is what matters; a connection that is lost cannot roll back, and need not.
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }
}
