import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Times are epoch milliseconds. */
@Entity('authorization_codes')
@Index('authorization_codes_session_id_created_at_idx', ['sessionId', 'createdAt'])
@Index('authorization_codes_expires_at_idx', ['expiresAt'])
export class AuthorizationCode {
  @PrimaryColumn({ type: 'varchar', length: 43 })
  hash: string;

  @Column({ name: 'session_id', type: 'varchar', length: 36 })
  @ForeignKey('sessions', { name: 'authorization_codes_session_id_fkey', onDelete: 'CASCADE' })
  sessionId: string;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;

  @Column({ name: 'expires_at', type: 'bigint' })
  expiresAt: number;
}
