import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { Transactions } from '../../database/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { invitationEvent } from './invitation-events.js';
import { InvitationFactsRepository } from './invitation-facts.repository.js';
import type { ReceivedInvitation } from './invitation-list.repository.js';
import { isOpen } from './invitation-policy.js';
import { InvitationEndedError } from './invitations.errors.js';
import { InvitationsRepository } from './invitations.repository.js';
import { OrgChanges } from '../org-changes.js';
import { INVITATION_TTL_MS } from './invitations.service.js';

export interface ShownCode {
  codeNumber: number;
  /** epoch milliseconds */
  expiresAt: number;
}

/** Issues codes that an operator passes on, where no mail arrives. */
@Injectable()
export class ShownInvitationsService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly facts: InvitationFactsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /**
   * The new code is valid for seven days and proves no email; the old one is void. The inviter stays the same.
   * @throws InvitationEndedError
   */
  renew({ id, orgId }: Pick<ReceivedInvitation, 'id' | 'orgId'>, actor: Actor): Promise<ShownCode> {
    return this.transactions.run(async (transaction) => {
      const lookup = this.facts.answering;
      const facts = await this.changes.lock(transaction, { orgId, lookup, key: { id, userId: '' } });
      const now = Date.now();
      if (!facts || !isOpen(facts, now)) throw new InvitationEndedError();
      const expiresAt = now + INVITATION_TTL_MS;
      const { invitedBy, revision: orgRevision } = facts;
      await this.invitations.renew(transaction, id, { codeShown: 1, invitedBy, expiresAt });
      const event = invitationEvent('invitation.resent', facts);
      await this.events.record(transaction, { ...event, actor, orgId, orgRevision });
      return { codeNumber: facts.codeNumber + 1, expiresAt };
    });
  }
}
