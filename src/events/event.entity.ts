import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Actor } from '../access/principal.js';
import type { UniqueKey } from '../database/transactions/database-errors.js';
import { newEntityId } from '../identifiers/entity-id.js';
import type { EventType, NewEvent } from './event-types.js';

/** A row of the audit log. It has no foreign keys, because it outlives its subjects. */
@Entity('events')
@Index('events_org_id_org_revision_idx', ['orgId', 'orgRevision', 'id'])
@Index('events_org_id_user_id_idx', ['orgId', 'userId', 'orgRevision', 'id'])
@Index('events_user_id_idx', ['userId', 'id'])
@Index('events_actor_id_idx', ['actorId', 'id'])
@Index('events_pending_id_idx', ['pending', 'id'], { where: '"pending" IS NOT NULL' })
export class Event {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', length: 40 }) type: EventType;
  @Column({ type: 'bigint' }) at: number;
  @Column({ name: 'actor_type', type: 'varchar', length: 8 }) actorType: Actor['kind'];
  @Column({ name: 'actor_id', type: 'varchar', length: 128, nullable: true }) actorId: string | null;

  /** email that an operator over HTTP had at that time; only operators see it */
  @Column({ name: 'actor_email', type: 'varchar', length: 254, nullable: true })
  actorEmail: string | null;

  @Column({ name: 'actor_session_id', type: 'varchar', length: 36, nullable: true })
  actorSessionId: string | null;

  @Column({ name: 'org_id', type: 'varchar', length: 36, nullable: true }) orgId: string | null;
  @Column({ name: 'org_revision', type: 'integer', nullable: true }) orgRevision: number | null;
  @Column({ name: 'user_id', type: 'varchar', length: 36, nullable: true }) userId: string | null;
  @Column({ name: 'user_revision', type: 'integer', nullable: true }) userRevision: number | null;
  @Column({ name: 'session_id', type: 'varchar', length: 36, nullable: true }) sessionId: string | null;
  @Column({ type: 'varchar', length: 1000 }) data: string;
  @Column({ name: 'request_id', type: 'varchar', length: 128, nullable: true }) requestId: string | null;
  @Column({ type: 'varchar', length: 45, nullable: true }) ip: string | null;
  @Column({ type: 'varchar', length: 500, nullable: true }) reason: string | null;
  @Column({ type: 'tinyint', nullable: true, default: 1, select: false }) pending?: 1 | null;
}

type AnyEvent = Pick<NewEvent, 'type' | 'actor'> &
  Partial<Pick<Event, 'orgId' | 'orgRevision' | 'userId' | 'userRevision' | 'sessionId'>> & { data?: object };

export function rowsOf(events: readonly NewEvent[], at = Date.now()): Event[] {
  return events.map(({ actor, ...event }: AnyEvent) => ({
    id: newEntityId(),
    type: event.type,
    at,
    actorType: actor.kind,
    actorId: actor.kind === 'system' ? null : actor.id,
    actorEmail: actor.kind === 'operator' ? (actor.email ?? null) : null,
    actorSessionId: actor.kind === 'system' ? null : (actor.sessionId ?? null),
    orgId: event.orgId ?? null,
    orgRevision: event.orgRevision ?? null,
    userId: event.userId ?? null,
    userRevision: event.userRevision ?? null,
    sessionId: event.sessionId ?? null,
    data: JSON.stringify(event.data ?? {}),
    requestId: actor.requestId ?? null,
    ip: actor.address ?? null,
    reason: actor.kind === 'operator' ? (actor.reason ?? null) : null,
  }));
}

export const SEQ_KEY: UniqueKey = { name: 'PRIMARY', columns: 'feed.seq' };
export const EVENT_KEY: UniqueKey = { name: 'feed_event_id_key', columns: 'feed.event_id' };

/** Numbers have no gaps and are never reused. Retention deletes the lowest numbers first. */
@Entity('feed')
@Index(EVENT_KEY.name, ['eventId'], { unique: true })
export class FeedEntry {
  @PrimaryColumn({ type: 'bigint' }) seq: number;
  @Column({ name: 'event_id', type: 'varchar', length: 36 }) eventId: string;
}
