import type { ListedInvitation, ReceivedInvitation } from '../state/invitations.lists.js';
import type { ListedInvitationResponse, ReceivedInvitationResponse } from './invitations.responses.js';

export function listedInvitation(invitation: ListedInvitation): ListedInvitationResponse {
  const { id, email, role, status, createdAt, expiresAt, invitedBy, inviterEmail } = invitation;
  return {
    id,
    email,
    role,
    status,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    invitedBy: { userId: invitedBy, email: inviterEmail },
  };
}

export function receivedInvitation({
  orgId,
  orgName,
  ...invitation
}: ReceivedInvitation): ReceivedInvitationResponse {
  const { email: _, ...rest } = listedInvitation(invitation);
  return { ...rest, org: { id: orgId, name: orgName } };
}
