import type { NewEvent } from '../../events/event-types.js';
import type { Invitation } from './invitation.entity.js';
import type { EndedInvitation } from './invitations.repository.js';

export type RevocationReason = NewEvent<'invitation.revoked'>['data']['reason'];

/** The `data` of an event. It leaves out the invited user, who would reveal whether the email has an account. */
export function invitationData({ id, role }: Pick<Invitation, 'id' | 'role'>) {
  return { invitationId: id, role };
}

export function revocations(ended: readonly EndedInvitation[], reason: RevocationReason) {
  return ended.map((invitation) => ({
    type: 'invitation.revoked' as const,
    data: { ...invitationData(invitation), reason },
  }));
}
