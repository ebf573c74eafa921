import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../database/transactions/database-errors.js';

export const IDEMPOTENCY_KEYS_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'idempotency_keys.user_id, idempotency_keys.key_hash',
};

/** The first answer to a request that may be repeated (draft-ietf-httpapi-idempotency-key-header). */
@Entity('idempotency_keys')
@Index('idempotency_keys_expires_at_idx', ['expiresAt'])
@Index('idempotency_keys_user_id_expires_at_idx', ['userId', 'expiresAt'])
export class IdempotencyKey {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  userId: string;

  /** SHA-256 of the key, base64url */
  @PrimaryColumn({ name: 'key_hash', type: 'varchar', length: 43 })
  keyHash: string;

  /** SHA-256 of method, path, query and body, base64url */
  @Column({ type: 'varchar', length: 43 })
  fingerprint: string;

  @Column({ type: 'integer' })
  status: number;

  /** JSON without codes; the longest, invitations with two emails, take less than half of the length */
  @Column({ type: 'varchar', length: 2000 })
  body: string;

  /** epoch milliseconds */
  @Column({ name: 'expires_at', type: 'bigint' })
  expiresAt: number;
}
