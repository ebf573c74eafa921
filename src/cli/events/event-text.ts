import type { Event } from '../../events/event.entity.js';
import { timeText } from '../times.js';

export function eventText(event: Event): string {
  const { type, at, actorType, actorId, orgId, userId, data, reason } = event;
  return [
    timeText(at),
    type,
    userId && `user ${userId}`,
    orgId && `org ${orgId}`,
    `by ${actorId === null ? actorType : `${actorType} ${actorId}`}`,
    data === '{}' ? null : data,
    reason && JSON.stringify(reason),
  ]
    .filter((part) => part !== null)
    .join('  ');
}
