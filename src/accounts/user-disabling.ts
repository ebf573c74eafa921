import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { principalOf } from '../access/principal.js';
import { Transactions } from '../database/transactions/transactions.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { type OrphanedOrg, requireOtherOwners, UserDepartures } from '../orgs/state/user-departures.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { UserEvents } from '../users/user-events.js';

export interface Disabling {
  actor: Actor;
  /** allows an organization to be left without an enabled owner */
  force: boolean;
}

@Injectable()
export class UserDisabling {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly orgs: OrgChanges,
    private readonly departures: UserDepartures,
    private readonly events: UserEvents,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Ends every session. Returns undefined if the user is disabled already.
   * @throws RefusedError where an organization would have no enabled owner
   */
  disable(userId: string, { actor, force }: Disabling): Promise<OrphanedOrg[] | undefined> {
    return this.orgs.inOrgsOf({ actor }, userId, async (transaction, findDepartures) => {
      if (!(await this.users.disable(transaction, userId))) return undefined;
      const departures = await findDepartures();
      const departing = { userId, departures, orphaned: requireOtherOwners(departures, force) };
      const { orphaned, events } = await this.departures.stayDisabled(transaction, actor, departing);
      await this.events.recordWithEnd(
        transaction,
        { type: 'account.disabled', actor, userId, ...(orphaned.length > 0 && { data: { force: true } }) },
        { reason: 'account_disabled' },
        ...events,
      );
      return orphaned;
    });
  }

  /** Returns false if the user is not disabled. */
  enable(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run({ principal: principalOf(actor), row: userId }, async (transaction) => {
      if (!(await this.users.enable(transaction, userId))) return false;
      await this.events.record(transaction, { type: 'account.enabled', actor, userId });
      return true;
    });
  }
}
