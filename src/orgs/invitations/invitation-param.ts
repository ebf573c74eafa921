export const INVITATION_PARAM = {
  name: 'invitationId',
  type: String,
  format: 'uuid',
  description: 'id of the invitation, from its creation or from a list of invitations',
};
