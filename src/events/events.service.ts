import { Injectable } from '@nestjs/common';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import {
  encodeCursor,
  filteredPage,
  limitOf,
  type NextCursor,
  type PageQuery,
  type Position,
  positionOf,
} from '../http/pages.js';
import type { Event } from './event.entity.js';
import { type EventFilter, EventsRepository, LATEST } from './events.repository.js';
import type { FeedEvent, OrgEventDto, OwnEvent, AuditEvent } from './events.responses.js';
import { definitionOf, isSecondFactorChange } from './event-types.js';
import { timeText } from '../identifiers/text.js';

const MAX_CLOCK_SKEW_MS = 3_600_000;

@Injectable()
export class EventsService {
  constructor(private readonly events: EventsRepository) {}

  /** Lists the latest events first, by the revision of the organization in `filter`, otherwise by id and so by time. */
  async list<View>(
    { orgId, userId, actorIds, type, since = 0, until }: EventFilter,
    query: PageQuery,
    view: (event: Event) => View,
  ): Promise<{ events: View[] } & NextCursor> {
    const from = firstEntityIdAt(since);
    const before = until === undefined ? LATEST : firstEntityIdAt(until);
    const earliest = orgId === undefined ? from : firstEntityIdAt(since - MAX_CLOCK_SKEW_MS);
    const filter = {
      limit: limitOf(query),
      isWanted: (event: Event): boolean =>
        (type === undefined || event.type === type) &&
        (actorIds === undefined || (event.actorId !== null && actorIds.includes(event.actorId))) &&
        event.id >= from &&
        event.id < before,
      isBeyond: ({ id }: Event): boolean => id < earliest,
    };
    const start = positionOf(query);
    const { rows, last } = await filteredPage<Event>(filter, (size, after) =>
      this.events.findLatest(
        { orgId, userId, actorIds, from, before },
        size,
        after ? eventPosition(after) : start,
      ),
    );
    return { events: rows.map(view), ...(last && { nextCursor: encodeCursor(eventPosition(last)) }) };
  }
}

function eventPosition({ orgRevision, id }: Event): Position {
  return { order: orgRevision ?? 0, id };
}

/** Hides the IP address and the session of the actor from admins of the organization. */
export function orgEvent(event: Event): OrgEventDto {
  const { id, type, at, actorType, actorId, orgId, orgRevision, userId } = event;
  const actor = { type: actorType, id: actorId };
  return { id, type, at: timeText(at), actor, orgId, orgRevision, userId, data: dataOf(event) };
}

/** Hides the IP address, session and request of another actor from the user. */
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

/** Hides from services the IP address, session, request and reason, the operator, and who uses 2FA. */
export function feedEvent(event: Event): FeedEvent {
  const { data, ...rest } = orgEvent(event);
  const { actor } = rest;
  const { userRevision, sessionId } = event;
  const isHidden = event.type === 'session.ended' && isSecondFactorChange(data['reason']);
  return {
    ...rest,
    actor: { ...actor, id: actor.type === 'user' ? actor.id : null },
    userRevision,
    sessionId,
    data: isHidden ? { ...data, reason: actor.type === 'operator' ? 'operator' : 'revoked' } : data,
  };
}

export function wholeEvent(event: Event): AuditEvent {
  const { actorSessionId, actorEmail, userRevision, sessionId, requestId, ip, reason } = event;
  const { actor, ...rest } = orgEvent(event);
  return {
    ...rest,
    actor: { ...actor, sessionId: actorSessionId, email: actorEmail },
    userRevision,
    sessionId,
    requestId,
    ip,
    reason,
  };
}

export function isDeliveredTo(service: string, event: Pick<Event, 'type' | 'data'>): boolean {
  const deliveredTo = definitionOf(event.type)?.deliveredTo;
  if (deliveredTo === 'all services') return true;
  return (
    deliveredTo === 'that service' && (JSON.parse(event.data) as { service: string }).service === service
  );
}

function dataOf({ data }: Pick<Event, 'data'>): OrgEventDto['data'] {
  return JSON.parse(data) as OrgEventDto['data'];
}
