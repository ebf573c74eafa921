import type { Actor } from '../access/actor.js';
import { newEntityId } from '../identifiers/entity-id.js';
import type { EventType } from './event-types.js';
import type { Event } from './event.entity.js';

export interface NewEvent {
  type: EventType;
  actor: Actor;
  orgId?: string;
  orgRevision?: number;
  userId?: string;
  userRevision?: number;
  sessionId?: string;
  /** words and ids, without e-mails, names and secrets */
  data?: Readonly<Record<string, string | boolean>>;
}

export function rowsOf(events: readonly NewEvent[], at = Date.now()): Event[] {
  // Sorted, since ids made within a millisecond come in any order.
  const ids = events.map(newEntityId).toSorted();
  return events.map((event, place) => ({
    id: ids[place]!,
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
