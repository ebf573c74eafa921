import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { type OrphanedOrg, requireOtherOwners, UserDepartures } from '../orgs/state/user-departures.js';
import { UserChanges } from '../users/user-changes.js';
import { UserUpdates } from '../users/users.updates.js';

export interface Disabling {
  actor: Actor;
  /** allows an organization to be left without an enabled owner */
  force: boolean;
}

@Injectable()
export class UserDisabling {
  constructor(
    private readonly changes: UserChanges,
    private readonly users: UserUpdates,
    private readonly orgs: OrgChanges,
    private readonly departures: UserDepartures,
  ) {}

  /**
   * Ends every session. Returns undefined if the user is disabled already.
   * @throws RefusedError where an organization would have no enabled owner
   */
  disable(userId: string, { actor, force }: Disabling): Promise<OrphanedOrg[] | undefined> {
    return this.orgs.inOrgsOf({ actor }, userId, async (transaction, user, departures) => {
      if (user.disabledAt !== null) return undefined;
      await this.users.disable(transaction, userId);
      const departing = { userId, departures, orphaned: requireOtherOwners(departures, force) };
      const { orphaned, events } = await this.departures.stayDisabled(transaction, actor, departing);
      await user.recordWithEnd(
        { type: 'account.disabled', ...(orphaned.length > 0 && { data: { force: true } }) },
        { reason: 'account_disabled' },
        ...events,
      );
      return orphaned;
    });
  }

  /** Returns false if the user is not disabled. */
  async enable(userId: string, actor: Actor): Promise<boolean> {
    const enabled = await this.changes.inUser({ actor }, userId, async (transaction, user) => {
      if (user.disabledAt === null) return undefined;
      await this.users.enable(transaction, userId);
      await user.record({ type: 'account.enabled' });
      return true;
    });
    return enabled ?? false;
  }
}
