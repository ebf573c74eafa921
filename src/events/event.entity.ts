import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Actor } from '../access/actor.js';
import type { EventType } from './event-types.js';

/** Written in the transaction of its change. Has no foreign keys, since the record outlives its subjects. */
@Entity('events')
@Index('events_org_id_org_revision_idx', ['orgId', 'orgRevision', 'id'])
@Index('events_org_id_user_id_idx', ['orgId', 'userId', 'orgRevision', 'id'])
@Index('events_user_id_idx', ['userId', 'id'])
@Index('events_pending_id_idx', ['pending', 'id'], { where: '"pending" IS NOT NULL' })
export class Event {
  /** UUIDv7, as rows are cleaned up by ranges of ids */
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ type: 'varchar', length: 40 })
  type: EventType;

  /** epoch milliseconds */
  @Column({ type: 'bigint' })
  at: number;

  @Column({ name: 'actor_type', type: 'varchar', length: 8 })
  actorType: Actor['kind'];

  /** id of a user, also of an operator over HTTP, or the name of an operator with a shell */
  @Column({ name: 'actor_id', type: 'varchar', length: 128, nullable: true })
  actorId: string | null;

  @Column({ name: 'actor_session_id', type: 'varchar', length: 36, nullable: true })
  actorSessionId: string | null;

  @Column({ name: 'org_id', type: 'varchar', length: 36, nullable: true })
  orgId: string | null;

  /** revision of the organization after the change; orders its events, whatever clocks say */
  @Column({ name: 'org_revision', type: 'integer', nullable: true })
  orgRevision: number | null;

  /** id of the user whom the event is about */
  @Column({ name: 'user_id', type: 'varchar', length: 36, nullable: true })
  userId: string | null;

  @Column({ name: 'user_revision', type: 'integer', nullable: true })
  userRevision: number | null;

  @Column({ name: 'session_id', type: 'varchar', length: 36, nullable: true })
  sessionId: string | null;

  @Column({ type: 'varchar', length: 1000 })
  data: string;

  @Column({ name: 'request_id', type: 'varchar', length: 128, nullable: true })
  requestId: string | null;

  /** address of the client; deleted before the row is */
  @Column({ type: 'varchar', length: 45, nullable: true })
  ip: string | null;

  /** words of an operator, for operators */
  @Column({ type: 'varchar', length: 500, nullable: true })
  reason: string | null;

  /** 1 by default, until the event has its place in the feed; NULL before there was a feed */
  @Column({ type: 'tinyint', nullable: true, default: 1, select: false })
  pending?: 1 | null;
}
