import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { OrgsRepository } from '../memberships/orgs.repository.js';
import { OwnershipRepository } from '../memberships/ownership.repository.js';
import { AccountRepository } from '../users/account.repository.js';
import { OnlyOwnerError } from './accounts.errors.js';

/** The user has become the owner of an organization that was not locked. */
class OwnershipChangedError extends Error {}

const MAX_ATTEMPTS = 5;

export interface Disabling {
  actor: Actor;
  /** also where an organization is left without an enabled owner */
  force: boolean;
}

/** Disables accounts. It locks the organizations that the user owns, as every change of their owners does. */
@Injectable()
export class AccountDisablingService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly orgs: OrgsRepository,
    private readonly ownership: OwnershipRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Ends every session, too. False when the account is disabled already.
   *
   * @throws OnlyOwnerError
   */
  async disable(userId: string, disabling: Disabling): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      const owned = (await this.ownership.findOwned(userId)).map(({ id }) => id).toSorted();
      try {
        return await this.transactions.run((transaction) =>
          this.disableIn(transaction, userId, owned, disabling),
        );
      } catch (error) {
        if (!(error instanceof OwnershipChangedError) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  private async disableIn(
    transaction: Transaction,
    userId: string,
    locked: string[],
    { actor, force }: Disabling,
  ): Promise<boolean> {
    // In one order for everybody: two of them cannot wait for each other.
    for (const id of locked) await this.orgs.lock(transaction, id);
    if (!(await this.accounts.disable(transaction, userId))) return false;
    const owned = await this.ownership.findOwnedIn(transaction, userId);
    if (owned.some(({ id }) => !locked.includes(id))) throw new OwnershipChangedError();
    const orphaned = owned.filter(({ hasOtherOwner }) => !hasOtherOwner).map(({ id }) => id);
    if (orphaned.length > 0 && !force) throw new OnlyOwnerError(orphaned);

    const userRevision = await this.accounts.revisionOf(transaction, userId);
    const about = { actor, userId };
    await this.events.record(
      transaction,
      {
        ...about,
        type: 'account.disabled',
        userRevision,
        ...(orphaned.length > 0 && { data: { force: true } }),
      },
      { ...about, type: 'session.ended', data: { reason: 'account_disabled', all: true } },
    );
    return true;
  }
}
