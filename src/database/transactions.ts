import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isLostConflict } from './database-errors.js';
import { LostConflictError } from './lost-conflict.error.js';
import { Transaction } from './transaction.js';
import { takeEffect } from './unknown-outcome.error.js';

const RETRIES = 5;
const FIRST_PAUSE_MS = 10;

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
   * One INSERT, UPDATE or DELETE by itself; tells how many rows it matched.
   *
   * @throws LostConflictError when every attempt lost
   * @throws UnknownOutcomeError when it was not answered
   */
  statement(sql: string, values: unknown[]): Promise<number> {
    return retryLostConflicts(async () => {
      const runner = this.dataSource.createQueryRunner();
      try {
        return await takeEffect(() => new Transaction(runner).write(sql, values));
      } finally {
        await runner.release();
      }
    });
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

async function retryLostConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLostConflict(error)) throw error;
      if (attempt === RETRIES) throw new LostConflictError(error);
      await sleep(FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}
