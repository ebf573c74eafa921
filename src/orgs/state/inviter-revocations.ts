import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/principal.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import type { NewEvent } from '../../events/event-types.js';
import { type RevocationReason, revocations } from './invitation-events.js';
import { InvitationsRepository } from './invitations.repository.js';

/** A locked organization that has pending invitations of the user. */
interface InvitingOrg {
  orgId: string;
  revision: number;
}

@Injectable()
export class InviterRevocations {
  constructor(private readonly invitations: InvitationsRepository) {}

  /** @returns the events, which the caller records with those of the same revisions */
  async revokeAll(
    transaction: Transaction,
    userId: string,
    orgs: readonly InvitingOrg[],
    { actor, reason }: { actor: Actor; reason: RevocationReason },
  ): Promise<NewEvent[]> {
    const events: NewEvent[] = [];
    for (const { orgId, revision } of orgs) {
      const ended = await this.invitations.revokeOfInviter(transaction, orgId, userId, []);
      for (const event of revocations(ended, reason)) {
        events.push({ ...event, actor, orgId, orgRevision: revision });
      }
    }
    return events;
  }
}
