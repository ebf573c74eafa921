import type { Event } from './event.entity.js';
import type { OrgEvent, OwnEvent, WholeEvent } from './events.responses.js';
import type { FeedEvent } from './feed.responses.js';
import { definitionOf, isSecondFactorChange } from './event-types.js';

/** The admins' view, which tells neither the address nor the session of the actor. */
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

/**
 * The view of services: who acted but for operators, without from where, in which session and with which words. It does
 * not show who has a second factor.
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

/** The view of operators, who may know all of it. */
export function wholeEvent({ actorType, actorId, actorSessionId, at, data, ...rest }: Event): WholeEvent {
  const actor = { type: actorType, id: actorId, sessionId: actorSessionId };
  return { ...rest, at: new Date(at).toISOString(), actor, data: dataOf({ data }) };
}

/** Says no for a type that only a later version knows. */
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
