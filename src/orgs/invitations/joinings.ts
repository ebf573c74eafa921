import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { EventsRepository } from '../../events/events.repository.js';
import type { NewEvent } from '../../events/event-types.js';
import { answerEvent } from '../state/invitation-events.js';
import { InvitationEndedError } from '../state/orgs.errors.js';
import { type AnsweringFacts, InvitationsRepository } from '../state/invitations.repository.js';
import type { LockedOrg } from '../state/org-changes.js';
import { MembersRepository } from '../state/members.repository.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { UserEmailsRepository } from '../../users/user-emails.repository.js';

export interface Acceptance {
  userId: string;
  actor: UserActor;
  hasCode: boolean;
}

/** Makes the invited user a member, under the lock on the organization. */
@Injectable()
export class Joinings {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly members: MembersRepository,
    private readonly users: UserChangesRepository,
    private readonly emails: UserEmailsRepository,
    private readonly events: EventsRepository,
    private readonly env: Env,
  ) {}

  /**
   * @returns false if the user no longer exists or has reached the limit of organizations
   * @throws InvitationEndedError, AlreadyMemberError
   */
  async join(
    transaction: Transaction,
    org: LockedOrg,
    facts: AnsweringFacts,
    acceptance: Acceptance,
  ): Promise<boolean> {
    const { userId, actor } = acceptance;
    const { id, orgId, role } = facts;
    if (!(await this.invitations.end(transaction, id, 'accepted'))) throw new InvitationEndedError();
    const member = { orgId, userId, role, joinedAt: Date.now() };
    if (!(await this.members.insert(transaction, member, this.env.maxOrgsPerUser))) return false;
    const about = { actor, orgId, orgRevision: org.revision };
    await this.events.record(
      transaction,
      ...(await this.verify(transaction, facts, acceptance)),
      { ...about, ...answerEvent('invitation.accepted', facts, userId) },
      { ...about, type: 'member.added', userId, data: { role, via: 'invitation' } },
    );
    return true;
  }

  /** A code that was mailed proves the email; one that the inviter saw proves nothing. */
  private async verify(
    transaction: Transaction,
    { codeShown, userVerifiedAt, email }: AnsweringFacts,
    { userId, actor, hasCode }: Acceptance,
  ): Promise<NewEvent[]> {
    if (!hasCode || codeShown === 1 || userVerifiedAt !== null) return [];
    if (!(await this.emails.verifyEmail(transaction, userId, email))) return [];
    const { revision: userRevision } = await this.users.stateOf(transaction, userId);
    return [{ type: 'account.email_verified', actor, userId, userRevision }];
  }
}
