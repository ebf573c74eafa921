import { Injectable } from '@nestjs/common';
import { LostConflictError } from '../database/lost-conflict.error.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { OrgsRepository } from '../memberships/orgs.repository.js';

/** An organization that the work concerns was not locked. */
class OrgNotLockedError extends Error {}

/**
 * Whoever adds the user in between makes an attempt fail. So does, on a multi-primary cluster, each change of one of the
 * organizations on another node: somebody who invites without pause must not be able to put off being disabled.
 */
const MAX_ATTEMPTS = 20;

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
    find: () => Promise<string[]>,
    work: (transaction: Transaction, requireLocked: RequireLocked) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const locked = new Set(await find());
      const requireLocked: RequireLocked = (orgIds) => {
        if (orgIds.some((id) => !locked.has(id))) throw new OrgNotLockedError();
      };
      try {
        return await this.transactions.run(async (transaction) => {
          await this.orgs.lockAll(transaction, [...locked]);
          return work(transaction, requireLocked);
        });
      } catch (error) {
        if (!(error instanceof OrgNotLockedError || error instanceof LostConflictError)) throw error;
        if (attempt === MAX_ATTEMPTS) throw new LostConflictError(error);
      }
    }
  }
}
