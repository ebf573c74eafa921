import { Injectable } from '@nestjs/common';
import { LostConflictError } from '../database/transaction-errors.js';
import type { Transaction } from '../database/transaction.js';
import type { Turn } from '../database/transaction-queue.js';
import { Transactions } from '../database/transactions.js';
import { OrgsRepository } from './orgs.repository.js';

class OrgNotLockedError extends Error {}

// Additions of the user meanwhile make an attempt fail; so do, on a multi-primary cluster, changes of one of the
// organizations on another node. Nobody must be able to put off being disabled or deleted by adding or inviting
// without pause: attempts take milliseconds, and on a cluster most of them fail beside such a client.
const RETRY_TIMEOUT_MS = 8_000;

/** Throws an error that starts the work over, when one of the organizations is not locked. */
export type RequireLocked = (orgIds: readonly string[]) => void;

/** Runs changes of a user that concern several organizations, all locked as for a change of a membership. */
@Injectable()
export class LockedOrgs {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly transactions: Transactions,
  ) {}

  /**
   * @param find reads the organizations before the lock: the work itself has to read them again and require them
   * @throws LostConflictError when the organizations change faster than they can be locked
   */
  async run<T>(
    turn: Turn,
    find: () => Promise<string[]>,
    work: (transaction: Transaction, requireLocked: RequireLocked) => Promise<T>,
  ): Promise<T> {
    const begun = performance.now();
    for (;;) {
      const locked = new Set(await find());
      const requireLocked: RequireLocked = (orgIds) => {
        if (orgIds.some((id) => !locked.has(id))) throw new OrgNotLockedError();
      };
      try {
        return await this.transactions.run(async (transaction) => {
          await this.orgs.lockAll(transaction, [...locked]);
          return work(transaction, requireLocked);
        }, turn);
      } catch (error) {
        if (!(error instanceof OrgNotLockedError || error instanceof LostConflictError)) throw error;
        if (performance.now() - begun > RETRY_TIMEOUT_MS) throw new LostConflictError(error);
      }
    }
  }
}
