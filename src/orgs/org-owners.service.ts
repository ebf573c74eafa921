import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transactions/transaction.js';
import {
  OrgNotFoundError,
  OwnerDisabledError,
  OwnerNoMemberError,
  UserHasTooManyOrgsError,
} from './state/orgs.errors.js';
import { revocations } from './state/invitation-events.js';
import { InvitationsRepository } from './state/invitations.repository.js';
import { MembersRepository } from './state/members.repository.js';
import { type LockedOrg, OrgChanges, unchanged } from './state/org-changes.js';
import { requireUnprotected } from '../users/operator-protection.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import { UserEmailsRepository } from '../users/user-emails.repository.js';

export interface NewOwner {
  orgId: string;
  userId: string;
  actor: Actor;
  /** allows somebody who is no member */
  force: boolean;
}

/** Lets operators make a user an owner if no owner of the organization can. */
@Injectable()
export class OrgOwnersService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly members: MembersRepository,
    private readonly users: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly env: Env,
  ) {}

  /**
   * Over HTTP no operator becomes an owner, so that none takes an organization.
   * @returns false if the user is an owner already
   * @throws OrgNotFoundError, OwnerDisabledError, OwnerNoMemberError, UserHasTooManyOrgsError, OperatorProtectedError
   */
  async add({ orgId, userId, actor, force }: NewOwner): Promise<boolean> {
    const { answer } = await this.changes.inOrg({ actor }, orgId, async (tx, org) => {
      const from = await this.members.findRole(tx, orgId, userId);
      if (from === 'owner') return unchanged({ changed: false });
      if (!(await this.users.lockEnabled(tx, userId))) {
        const isThere = (await this.users.lockEpoch(tx, userId)) !== undefined;
        throw isThere ? new OwnerDisabledError() : new OrgNotFoundError();
      }
      const { operatorSince } = await this.users.stateOf(tx, userId);
      requireUnprotected(actor, operatorSince);
      if (from === null) {
        if (!force) throw new OwnerNoMemberError();
        await this.join(tx, org, userId);
      } else {
        await this.members.updateRole(tx, orgId, userId, 'owner');
        await org.record({ type: 'member.role_changed', userId, data: { from, to: 'owner' } });
      }
      return { changed: true };
    });
    return answer.changed;
  }

  private async join(tx: Transaction, org: LockedOrg, userId: string): Promise<void> {
    const { maxOrgsPerUser } = this.env;
    const member = { orgId: org.id, userId, role: 'owner', joinedAt: Date.now() } as const;
    if (!(await this.members.insert(tx, member, maxOrgsPerUser))) {
      throw new UserHasTooManyOrgsError(maxOrgsPerUser);
    }
    const { email } = await this.emails.emailOf(tx, userId);
    const ended = await this.invitations.revokeOfEmail(tx, org.id, email);
    await org.record(
      { type: 'member.added', userId, data: { role: 'owner', via: 'added', force: true } },
      ...revocations(ended, 'member_added'),
    );
  }
}
