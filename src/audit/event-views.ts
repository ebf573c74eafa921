import type { Event } from '../events/event.entity.js';
import type { OrgEvent, OwnEvent } from './dto/event.responses.js';

/** As the admins of its organization see it: not from where, and in which session, somebody acted. */
export function orgEvent(event: Event): OrgEvent {
  const { id, type, at, actorType, actorId, orgId, orgRevision, userId, data } = event;
  return {
    id,
    type,
    at: new Date(at).toISOString(),
    actor: { type: actorType, id: actorId },
    orgId,
    orgRevision,
    userId,
    data: JSON.parse(data) as OrgEvent['data'],
  };
}

/** As the user whom it is about sees it: where another user acted, his address and session are his own. */
export function ownEvent(event: Event): OwnEvent {
  const { actor, ...rest } = orgEvent(event);
  const isForeign = event.actorType === 'user' && event.actorId !== event.userId;
  return {
    ...rest,
    actor: { ...actor, sessionId: isForeign ? null : event.actorSessionId },
    userRevision: event.userRevision,
    sessionId: event.sessionId,
    ip: isForeign ? null : event.ip,
    requestId: isForeign ? null : event.requestId,
  };
}
