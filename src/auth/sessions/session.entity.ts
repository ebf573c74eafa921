import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A login that tokens belong to. Times are epoch milliseconds. */
@Entity('sessions')
@Index('sessions_user_id_idx', ['userId'])
@Index('sessions_expires_at_idx', ['expiresAt'])
export class Session {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'sessions_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** when the password was last checked; inherited through authorization codes */
  @Column({ name: 'auth_time', type: 'bigint' })
  authTime: number;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;

  /** when the last token of this session expires */
  @Column({ name: 'expires_at', type: 'bigint' })
  expiresAt: number;

  @Column({ name: 'revoked_at', type: 'bigint', nullable: true })
  revokedAt: number | null;
}
