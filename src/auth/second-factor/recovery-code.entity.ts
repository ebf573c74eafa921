import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'recovery_codes_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** SHA-256, which is enough for 128 random bits */
  @PrimaryColumn({ type: 'varchar', length: 43 })
  hash: string;

  /** epoch milliseconds; null while the code works */
  @Column({ name: 'used_at', type: 'bigint', nullable: true })
  usedAt: number | null;
}
