import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transactions/transaction.js';
import { Transactions } from '../database/transactions/transactions.js';
import { ShortCircuitResponse } from './request-key.js';
import { RepeatedRequests } from './repeated-requests.js';
import type { Write } from './write.js';

@Injectable()
export class Writes {
  constructor(
    private readonly transactions: Transactions,
    private readonly repeated: RepeatedRequests,
  ) {}

  /** @param row id of the organization or the user whose row the work locks first */
  run<Answer extends object>(
    write: Write,
    row: string,
    work: (transaction: Transaction) => Promise<Answer>,
  ): Promise<Answer> {
    return this.transactions.run(
      async (transaction) => this.complete(transaction, write, await work(transaction)),
      { principal: write.actor.id, row },
    );
  }

  /** Repeats the first answer to a request with the key; call it once the transaction has locked the row. */
  async replay(transaction: Transaction, { actor, key }: Write): Promise<void> {
    const answer = key && (await this.repeated.findAnswer(actor.id, key, transaction));
    if (answer) throw answer;
  }

  /** Call it as the last step of a transaction that the caller runs. */
  async complete<Answer extends object>(
    transaction: Transaction,
    write: Write,
    answer: Answer,
  ): Promise<Answer> {
    if (write.dryRun) throw new ShortCircuitResponse(write.status, answer);
    if (write.key) await this.repeated.keep(transaction, write, write.key, answer);
    return answer;
  }
}
