import type { Event } from './event.entity.js';
import type { FeedEvent, OrgEvent, OwnEvent, WholeEvent } from './events.responses.js';
import { definitionOf, isSecondFactorChange } from './event-types.js';

/** What admins of the organization see: neither the IP address nor the session of the actor. */
export function orgEvent(event: Event): OrgEvent {
  const { actorType, actorId, orgId, orgRevision, userId } = event;
  return {
    ...headOf(event),
    actor: { type: actorType, id: actorId },
    orgId,
    orgRevision,
    userId,
    data: dataOf(event),
  };
}

/** What the user sees: without the IP address, session and request of another actor. */
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

/**
 * What services see in the feed: never the IP address, session, request or reason, nor which operator acted, nor who has a
 * second factor.
 */
export function feedEvent(event: Event): FeedEvent {
  const { actorType, actorId, orgId, orgRevision, userId, userRevision, sessionId } = event;
  return {
    ...headOf(event),
    actor: { type: actorType, id: actorType === 'user' ? actorId : null },
    orgId,
    orgRevision,
    userId,
    userRevision,
    sessionId,
    data: toldDataOf(event),
  };
}

/** What operators see: the whole event. */
export function wholeEvent({ actorType, actorId, actorSessionId, at, data, ...rest }: Event): WholeEvent {
  const actor = { type: actorType, id: actorId, sessionId: actorSessionId };
  return { ...rest, at: new Date(at).toISOString(), actor, data: dataOf({ data }) };
}

/** Returns false for a type that only a later version knows. */
export function isToldTo(service: string, event: Pick<Event, 'type' | 'data'>): boolean {
  const toldTo = definitionOf(event.type)?.toldTo;
  if (toldTo === 'all services') return true;
  return toldTo === 'that service' && (JSON.parse(event.data) as { service: string }).service === service;
}

function headOf({ id, type, at }: Event): Pick<OrgEvent, 'id' | 'type' | 'at'> {
  return { id, type, at: new Date(at).toISOString() };
}

function dataOf({ data }: Pick<Event, 'data'>): OrgEvent['data'] {
  return JSON.parse(data) as OrgEvent['data'];
}

function toldDataOf(event: Event): OrgEvent['data'] {
  const data = dataOf(event);
  if (event.type !== 'session.ended' || !isSecondFactorChange(data['reason'])) return data;
  return { ...data, reason: event.actorType === 'operator' ? 'operator' : 'revoked' };
}
