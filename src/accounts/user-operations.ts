import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { type OrphanedOrg, UserDepartures } from '../orgs/state/user-departures.js';
import { RefusedError } from '../problems/problem.js';
import { UserChanges } from '../users/user-changes.js';
import { UserUpdates } from '../users/users.updates.js';

export interface Forcible {
  actor: Actor;
  /** allows an operation that is refused otherwise, such as leaving an organization without an enabled owner */
  force: boolean;
}

/** Each change returns undefined if there was nothing to change. */
@Injectable()
export class UserOperations {
  constructor(
    private readonly changes: UserChanges,
    private readonly users: UserUpdates,
    private readonly orgs: OrgChanges,
    private readonly departures: UserDepartures,
    private readonly codes: EmailCodesRepository,
  ) {}

  /** Ends every session. @throws OnlyOwnerError */
  disable(userId: string, { actor, force }: Forcible): Promise<OrphanedOrg[] | undefined> {
    return this.orgs.inOrgsOf({ actor }, userId, async (transaction, user, departures) => {
      if (user.disabledAt !== null) return undefined;
      await this.users.disable(transaction, userId);
      const departing = { actor, userId, departures, force };
      const { orphaned, events } = await this.departures.stayDisabled(transaction, departing);
      await user.recordWithEnd(
        { type: 'account.disabled', ...(orphaned.length > 0 && { data: { force: true } }) },
        { reason: 'account_disabled' },
        ...events,
      );
      return orphaned;
    });
  }

  enable(userId: string, actor: Actor): Promise<true | undefined> {
    return this.changes.inUser({ actor }, userId, async (transaction, user) => {
      if (user.disabledAt === null) return undefined;
      await this.users.enable(transaction, userId);
      await user.record({ type: 'account.enabled' });
      return true;
    });
  }

  /** Voids a reset code that another operator may have issued. @throws RefusedError */
  grantOperator(userId: string, { actor, force }: Forcible): Promise<true | undefined> {
    return this.changes.inUser({ actor }, userId, async (transaction, user) => {
      if (user.disabledAt !== null) throw new RefusedError('the user is disabled', 'account_disabled');
      if (user.operatorSince !== null) return undefined;
      const hasSecondFactor = user.secondFactorAt !== null;
      if (!hasSecondFactor && !force) {
        throw new RefusedError(
          'the user does not use two-factor authentication, and an attacker with their password could enroll first: let the user turn it on (second_factor_required)',
        );
      }
      await this.users.setOperator(transaction, userId, Date.now());
      await this.codes.voidResets(transaction, user.email);
      await user.record({
        type: 'account.operator_granted',
        ...(!hasSecondFactor && { data: { force: true } }),
      });
      return true;
    });
  }

  revokeOperator(userId: string, actor: Actor): Promise<true | undefined> {
    return this.changes.inUser({ actor }, userId, async (transaction, user) => {
      if (user.operatorSince === null) return undefined;
      await this.users.setOperator(transaction, userId, null);
      await user.record({ type: 'account.operator_revoked' });
      return true;
    });
  }
}
