import type { Invitation } from './invitation.entity.js';
import type { NewEvent } from '../../record/new-event.js';
import type { EndedInvitation } from './invitations.repository.js';

export type RevocationReason =
  | 'revoked'
  | 'member_added'
  | 'inviter_removed'
  | 'inviter_left'
  | 'inviter_demoted'
  | 'inviter_disabled'
  | 'inviter_deleted'
  | 'org_deleted';

type InvitationEvent = Pick<NewEvent, 'type' | 'userId' | 'data'>;

/** Leaves out the invited user, who would reveal whether the e-mail has an account. */
export function revocations(ended: readonly EndedInvitation[], reason: RevocationReason): InvitationEvent[] {
  return ended.map(({ id, role }) => ({
    type: 'invitation.revoked',
    data: { invitationId: id, role, reason },
  }));
}

export function invitationEvent(
  type: 'invitation.created' | 'invitation.resent',
  { id, role }: Pick<Invitation, 'id' | 'role'>,
): InvitationEvent {
  return { type, data: { invitationId: id, role } };
}

export function answerEvent(
  type: 'invitation.accepted' | 'invitation.declined',
  { id, role }: Pick<Invitation, 'id' | 'role'>,
  userId: string,
): InvitationEvent {
  return { type, userId, data: { invitationId: id, role } };
}
