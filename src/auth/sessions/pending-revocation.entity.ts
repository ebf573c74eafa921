import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor, OperatorActor } from '../../access/actor.js';
import type { UniqueKey } from '../../database/database-errors.js';

export interface RevocableSession {
  id: string;
  userId: string;
}

/** Operators end all sessions of a user, never one. */
export interface Revocation {
  actor: Exclude<Actor, OperatorActor>;
  reason: 'code_reused' | 'refresh_reused' | 'logout' | 'revoked' | 'too_many';
}

export const PENDING_REVOCATIONS_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'pending_revocations.session_id',
};

/** A login, or the head of a branch, was revoked. The rest of its family is still to be revoked, by any instance. */
@Entity('pending_revocations')
export class PendingRevocation {
  @PrimaryColumn({ name: 'session_id', type: 'varchar', length: 36 })
  sessionId: string;

  @Column({ name: 'user_id', type: 'varchar', length: 36 })
  userId: string;

  /** epoch milliseconds */
  @Column({ type: 'bigint' })
  since: number;

  @Column({ type: 'varchar', length: 20 })
  reason: Revocation['reason'];

  /** id of the user who revoked the session; null for Accounts itself */
  @Column({ name: 'actor_id', type: 'varchar', length: 36, nullable: true })
  actorId: string | null;

  @Column({ name: 'actor_session_id', type: 'varchar', length: 36, nullable: true })
  actorSessionId: string | null;

  @Column({ name: 'request_id', type: 'varchar', length: 128, nullable: true })
  requestId: string | null;

  @Column({ type: 'varchar', length: 45, nullable: true })
  ip: string | null;
}
