export const INVITATION_PARAM = {
  name: 'invitationId',
  type: String,
  format: 'uuid',
  description: 'id of the invitation',
  example: '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e',
};
