import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { SecondFactorRows } from '../auth/second-factor/second-factors.repository.js';
import { type ChangeOutcome, type Transaction, UNCHANGED } from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { suspensionEvents } from '../orgs/state/user-memberships.js';
import type { LockedUser } from '../users/user-changes.js';
import { UserUpdatesRepository } from '../users/users.updates.js';

type LostFactor = Parameters<typeof suspensionEvents>[1];

const REMOVED = 'account.second_factor_removed';

@Injectable()
export class SecondFactorRemoval {
  constructor(
    private readonly orgs: OrgChanges,
    private readonly users: UserUpdatesRepository,
    private readonly rows: SecondFactorRows,
    private readonly mails: Mails,
  ) {}

  /** Ends every session. @throws operator_protected */
  byOperator(userId: string, actor: Actor): Promise<ChangeOutcome<{ wasOperator: boolean }>> {
    return this.orgs.inOrgsOf({ actor }, userId, async (tx, user, memberships) => {
      if (user.secondFactorAt === null) return UNCHANGED;
      await this.users.setSecondFactor(tx, userId, null);
      return { wasOperator: await this.complete(tx, user, { actor, userId, memberships }) };
    });
  }

  async byMailbox(tx: Transaction, user: LockedUser, lost: LostFactor): Promise<void> {
    await this.users.setSecondFactor(tx, user.id, null);
    await user.record({ type: REMOVED }, ...suspensionEvents('member.suspended', lost));
    await this.deleteRest(tx, user);
  }

  /** The caller must have turned the second factor off. Returns whether the user was an operator. */
  async complete(tx: Transaction, user: LockedUser, lost: LostFactor, except?: string): Promise<boolean> {
    const end = { reason: 'second_factor_removed', except } as const;
    await user.recordWithEnd({ type: REMOVED }, end, ...suspensionEvents('member.suspended', lost));
    return this.deleteRest(tx, user);
  }

  private async deleteRest(tx: Transaction, user: LockedUser): Promise<boolean> {
    // Otherwise an attacker who knows the password could enroll a factor and act as an operator.
    const wasOperator = user.operatorSince !== null;
    if (wasOperator) {
      await this.users.setOperator(tx, user.id, null);
      await user.record({ type: 'account.operator_revoked' });
    }
    await this.rows.delete(tx, user.id);
    const notice = { kind: 'second_factor_removed', recipient: user.email, senderId: user.id } as const;
    await this.mails.notify(tx, notice);
    return wasOperator;
  }
}
