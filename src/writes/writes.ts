import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import type { Write } from './write.js';

/** Carries out what users ask for, as carefully as they ask. */
@Injectable()
export class Writes {
  constructor(private readonly transactions: Transactions) {}

  /** @param work returns the body of the answer */
  run<Answer extends object>(
    _write: Write,
    work: (transaction: Transaction) => Promise<Answer>,
  ): Promise<Answer> {
    return this.transactions.run(work);
  }
}
