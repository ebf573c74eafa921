import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/database-errors.js';

export const PENDING_REVOCATIONS_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'pending_revocations.session_id',
};

/** A session whose revocation has begun; one that was interrupted is resumed from here. */
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
