import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/database-errors.js';

export const SECOND_FACTORS_KEY: UniqueKey = { name: 'PRIMARY', columns: 'second_factors.user_id' };

/** A secret shared with an authenticator app (RFC 6238), pending until a code was typed. Times are epoch milliseconds. */
@Entity('second_factors')
export class SecondFactor {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'second_factors_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** sealed, see sealed-secrets.ts */
  @Column({ type: 'varchar', length: 200, select: false })
  secret: string;

  /** the latest step of 30 seconds whose code was used: that one and those before it work no more */
  @Column({ name: 'last_step', type: 'bigint', default: 0 })
  lastStep: number;

  /** null while pending; `users.second_factor_at` repeats it */
  @Column({ name: 'enabled_at', type: 'bigint', nullable: true })
  enabledAt: number | null;

  /** null once enabled */
  @Column({ name: 'pending_until', type: 'bigint', nullable: true })
  pendingUntil: number | null;
}
