import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Actor } from '../access/actor.js';
import type { EventType } from './event-types.js';

/**
 * One change, written in the transaction that made it. No foreign keys: the record outlives what it tells of.
 */
@Entity('events')
@Index('events_org_id_org_revision_idx', ['orgId', 'orgRevision', 'id'])
@Index('events_org_id_user_id_idx', ['orgId', 'userId', 'orgRevision', 'id'])
@Index('events_user_id_idx', ['userId', 'id'])
export class Event {
  /** UUIDv7: rows are cleaned up by ranges of it */
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ type: 'varchar', length: 40 })
  type: EventType;

  /** epoch milliseconds */
  @Column({ type: 'bigint' })
  at: number;

  @Column({ name: 'actor_type', type: 'varchar', length: 8 })
  actorType: Actor['kind'];

  /** of a user, or the name of an operator */
  @Column({ name: 'actor_id', type: 'varchar', length: 128, nullable: true })
  actorId: string | null;

  @Column({ name: 'actor_session_id', type: 'varchar', length: 36, nullable: true })
  actorSessionId: string | null;

  @Column({ name: 'org_id', type: 'varchar', length: 36, nullable: true })
  orgId: string | null;

  /** of the organization after the change: what its events are ordered by, whatever clocks say */
  @Column({ name: 'org_revision', type: 'integer', nullable: true })
  orgRevision: number | null;

  /** whom it is about */
  @Column({ name: 'user_id', type: 'varchar', length: 36, nullable: true })
  userId: string | null;

  /** of the user after a change of the account */
  @Column({ name: 'user_revision', type: 'integer', nullable: true })
  userRevision: number | null;

  /** the session that it is about */
  @Column({ name: 'session_id', type: 'varchar', length: 36, nullable: true })
  sessionId: string | null;

  /** a JSON object of words and ids: no e-mail, name or secret */
  @Column({ type: 'varchar', length: 1000 })
  data: string;

  @Column({ name: 'request_id', type: 'varchar', length: 128, nullable: true })
  requestId: string | null;

  /** of the client; deleted before the row is */
  @Column({ type: 'varchar', length: 45, nullable: true })
  ip: string | null;

  /** an operator's words, for operators */
  @Column({ type: 'varchar', length: 500, nullable: true })
  reason: string | null;
}
