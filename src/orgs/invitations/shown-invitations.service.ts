import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/principal.js';
import { invitationData, OrgChanges } from '../state/org-changes.js';
import { type Invitation, INVITATION_TTL_MS } from '../state/org.entity.js';
import { isOpen } from '../state/invitation-policy.js';
import { InvitationsRepository } from '../state/invitations.repository.js';
import { Problem } from '../../problems/problem.js';

/** Issues codes that an operator passes on. Commands, which have no keys, use it too. */
@Injectable()
export class ShownInvitationsService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly invitations: InvitationsRepository,
  ) {}

  /** The new code proves no email. @throws invitation_ended */
  async renew(
    { id, orgId }: Pick<Invitation, 'id' | 'orgId'>,
    actor: Actor,
  ): Promise<{ codeNumber: number; expiresAt: number }> {
    const { answer } = await this.changes.inOrg(
      { actor },
      orgId,
      async (tx, org) => {
        const facts = await this.invitations.findAnswering(id, '', tx);
        const now = Date.now();
        if (!facts || !isOpen(facts, now)) throw new Problem('invitation_ended');
        const expiresAt = now + INVITATION_TTL_MS;
        const { invitedBy, codeNumber } = facts;
        await this.invitations.renew(tx, id, { codeShown: 1, invitedBy, expiresAt });
        await org.record({ type: 'invitation.resent', data: invitationData(facts) });
        return { codeNumber: codeNumber + 1, expiresAt };
      },
      { evenDeleted: true, missing: () => new Problem('invitation_ended') },
    );
    return answer;
  }
}
