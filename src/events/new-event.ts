import type { Actor } from '../access/actor.js';
import { newEntityId } from '../identifiers/entity-id.js';
import type { EventContent, EventType } from './event-types.js';
import type { Event } from './event.entity.js';

/** An event to record, exactly as the catalogue has its type. */
export type NewEvent<Type extends EventType = EventType> = { actor: Actor } & EventContent<Type>;

/** Leaves out what the caller adds, in each type of event by itself. */
export type EventWithout<
  Column extends PropertyKey,
  Type extends EventType = EventType,
> = Type extends EventType ? DistributiveOmit<NewEvent<Type>, Column> : never;

type DistributiveOmit<Union, Column extends PropertyKey> = Union extends unknown
  ? Omit<Union, Column>
  : never;

type AnyEvent = Pick<NewEvent, 'type' | 'actor'> &
  Partial<Pick<Event, 'orgId' | 'orgRevision' | 'userId' | 'userRevision' | 'sessionId'>> & { data?: object };

export function rowsOf(events: readonly NewEvent[], at = Date.now()): Event[] {
  return events.map((event: AnyEvent) => ({
    id: newEntityId(),
    type: event.type,
    at,
    ...actorColumns(event.actor),
    orgId: event.orgId ?? null,
    orgRevision: event.orgRevision ?? null,
    userId: event.userId ?? null,
    userRevision: event.userRevision ?? null,
    sessionId: event.sessionId ?? null,
    data: JSON.stringify(event.data ?? {}),
  }));
}

type ActorColumns = Pick<Event, 'actorType' | 'actorId' | 'actorSessionId' | 'requestId' | 'ip' | 'reason'>;

function actorColumns(actor: Actor): ActorColumns {
  return {
    actorType: actor.kind,
    actorId: actor.kind === 'system' ? null : actor.id,
    actorSessionId: actor.kind === 'system' ? null : (actor.sessionId ?? null),
    requestId: actor.requestId ?? null,
    ip: actor.address ?? null,
    reason: actor.kind === 'operator' ? (actor.reason ?? null) : null,
  };
}
