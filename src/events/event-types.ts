/** Everything that the record tells of. */
export const EVENT_TYPES = [
  'account.registered',
  'account.password_changed',
  'account.email_verified',
  'account.disabled',
  'account.enabled',
  'account.deleted',
  'session.started',
  'session.ended',
  'org.created',
  'member.added',
  'member.role_changed',
  'member.removed',
  'keys.rotated',
  'keys.pruned',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
