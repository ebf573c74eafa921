import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Rows of revoked secrets stay, for the record. Times are epoch milliseconds. */
@Entity('service_secrets')
@Index('service_secrets_service_idx', ['service'])
@Index('service_secrets_hash_key', ['hash'], { unique: true })
export class ServiceSecret {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ type: 'varchar', length: 40 })
  @ForeignKey('services', { name: 'service_secrets_service_fkey' })
  service: string;

  /** SHA-256, which is enough for 256 random bits */
  @Column({ type: 'varchar', length: 43 })
  hash: string;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;

  /** the beginning of the hour */
  @Column({ name: 'last_used_at', type: 'bigint', nullable: true })
  lastUsedAt: number | null;

  @Column({ name: 'revoked_at', type: 'bigint', nullable: true })
  revokedAt: number | null;
}
