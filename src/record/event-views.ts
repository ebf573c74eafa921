import type { Event } from './event.entity.js';
import type { OrgEvent, OwnEvent } from './dto/event.responses.js';

/** The admins' view, which tells neither the address nor the session of the actor. */
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

/** The user's own view: the address, session and request of somebody else who acted are left out. */
export function ownEvent(event: Event): OwnEvent {
  const { actor, ...rest } = orgEvent(event);
  const isForeign = event.actorType !== 'system' && event.actorId !== event.userId;
  return {
    ...rest,
    actor: { ...actor, sessionId: isForeign ? null : event.actorSessionId },
    userRevision: event.userRevision,
    sessionId: event.sessionId,
    ip: isForeign ? null : event.ip,
    requestId: isForeign ? null : event.requestId,
  };
}
