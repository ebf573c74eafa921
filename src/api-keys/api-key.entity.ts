import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Role } from '../access/principal.js';

export const MAX_API_KEY_NAME = 60;

/** Revoking deletes the row; the audit log keeps the history. Times are epoch milliseconds. */
@Entity('api_keys')
@Index('api_keys_hash_key', ['hash'], { unique: true })
@Index('api_keys_user_id_org_id_idx', ['userId', 'orgId'])
@Index('api_keys_org_id_idx', ['orgId'])
@Index('api_keys_audience_id_idx', ['audience', 'id'])
@Index('api_keys_expires_at_idx', ['expiresAt'])
export class ApiKey {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;

  /** SHA-256, which is enough for 256 random bits */
  @Column({ type: 'varchar', length: 43 }) hash: string;

  @Column({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'api_keys_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** the only organization that the key is for; null for a key of the user's own */
  @Column({ name: 'org_id', type: 'varchar', length: 36, nullable: true })
  @ForeignKey('orgs', { name: 'api_keys_org_id_fkey', onDelete: 'CASCADE' })
  orgId: string | null;

  /** the only service that the key is for */
  @Column({ type: 'varchar', length: 40 }) audience: string;

  /** the most that the key may have */
  @Column({ type: 'varchar', length: 6 }) role: Role;
  @Column({ type: 'varchar', length: MAX_API_KEY_NAME }) name: string;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'expires_at', type: 'bigint' }) expiresAt: number;
  @Column({ name: 'last_used_at', type: 'bigint', nullable: true }) lastUsedAt: number | null;
}
