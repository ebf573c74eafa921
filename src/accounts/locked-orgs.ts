import { Injectable } from '@nestjs/common';
import { LostConflictError } from '../database/lost-conflict.error.js';
import type { Transaction } from '../database/transaction.js';
import type { Turn } from '../database/transaction-queue.js';
import { Transactions } from '../database/transactions.js';
import { OrgsRepository } from '../memberships/orgs.repository.js';

/** An organization that the work concerns was not locked. */
class OrgNotLockedError extends Error {}

/**
 * Whoever adds the user in between makes an attempt fail. So does, on a multi-primary cluster, each change of one of the
 * organizations on another node. Nobody must be able to put off being disabled or deleted by adding or inviting without
 * pause, so there are many attempts: they take milliseconds, and on a cluster most of them fail beside such a client.
 */
const RETRY_TIMEOUT_MS = 8_000;

/** @throws Error that starts the work over, when one of the organizations is not locked */
export type RequireLocked = (orgIds: readonly string[]) => void;

/** Changes of a user that concern several organizations, all locked as for a change of a membership. */
@Injectable()
export class LockedOrgs {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly transactions: Transactions,
  ) {}

  /**
   * @param find the organizations, as they are before: the work itself has to ask again, and to require them
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
