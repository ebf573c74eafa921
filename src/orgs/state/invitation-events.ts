import type { Invitation } from './invitation.entity.js';
import type { EventType, EventWithout, NewEvent } from '../../events/event-types.js';
import type { EndedInvitation } from './invitations.repository.js';

export type RevocationReason = NewEvent<'invitation.revoked'>['data']['reason'];

type InvitationEvent<Type extends EventType & `invitation.${string}`> = EventWithout<
  'actor' | 'orgId' | 'orgRevision',
  Type
>;

/** Leaves out the invited user, who would reveal whether the email has an account. */
export function revocations(
  ended: readonly EndedInvitation[],
  reason: RevocationReason,
): InvitationEvent<'invitation.revoked'>[] {
  return ended.map(({ id, role }) => ({
    type: 'invitation.revoked',
    data: { invitationId: id, role, reason },
  }));
}

export function invitationEvent<Type extends 'invitation.created' | 'invitation.resent'>(
  type: Type,
  { id, role }: Pick<Invitation, 'id' | 'role'>,
) {
  return { type, data: { invitationId: id, role } };
}

export function answerEvent<Type extends 'invitation.accepted' | 'invitation.declined'>(
  type: Type,
  { id, role }: Pick<Invitation, 'id' | 'role'>,
  userId: string,
) {
  return { type, userId, data: { invitationId: id, role } };
}
