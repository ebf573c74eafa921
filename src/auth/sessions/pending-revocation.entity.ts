import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/database-errors.js';

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
}
