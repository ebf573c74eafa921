/** Everything that the record tells of. */
export const EVENT_TYPES = [
  'account.registered',
  'session.started',
  'session.ended',
  'org.created',
  'member.added',
  'member.role_changed',
  'member.removed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
