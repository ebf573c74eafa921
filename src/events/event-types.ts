/** Everything that the record tells of. */
export const EVENT_TYPES = [
  'account.registered',
  'account.password_changed',
  'account.email_verified',
  'account.email_changed',
  'account.disabled',
  'account.enabled',
  'account.deleted',
  'session.started',
  'session.ended',
  'org.created',
  'org.renamed',
  'org.deleted',
  'org.restored',
  'org.purged',
  'member.added',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.resent',
  'invitation.revoked',
  'invitation.accepted',
  'invitation.declined',
  'keys.rotated',
  'keys.pruned',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
