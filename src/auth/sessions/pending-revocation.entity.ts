import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/database-errors.js';
import type { Revocation } from './revocation.js';

export const PENDING_REVOCATIONS_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'pending_revocations.session_id',
};

/** The revocation of this session has begun; if it is interrupted, it is resumed from here. */
@Entity('pending_revocations')
export class PendingRevocation {
  @PrimaryColumn({ name: 'session_id', type: 'varchar', length: 36 })
  sessionId: string;

  @Column({ name: 'user_id', type: 'varchar', length: 36 })
  userId: string;

  /** epoch milliseconds */
  @Column({ type: 'bigint' })
  since: number;

  /** what the derived sessions are told with; the default is for older instances, which do not know it */
  @Column({ type: 'varchar', length: 20, default: 'revoked' })
  reason: Revocation['reason'];

  /** id of the user who ended the session; null for the service itself */
  @Column({ name: 'actor_id', type: 'varchar', length: 36, nullable: true })
  actorId: string | null;

  @Column({ name: 'actor_session_id', type: 'varchar', length: 36, nullable: true })
  actorSessionId: string | null;

  @Column({ name: 'request_id', type: 'varchar', length: 128, nullable: true })
  requestId: string | null;

  @Column({ type: 'varchar', length: 45, nullable: true })
  ip: string | null;
}
