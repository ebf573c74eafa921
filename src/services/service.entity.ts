import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../database/transactions/database-errors.js';

export const SERVICES_KEY: UniqueKey = { name: 'PRIMARY', columns: 'services.name' };

/** Rows of removed services stay, so that their names are never given to another. Times are epoch milliseconds. */
@Entity('services')
export class Service {
  @PrimaryColumn({ type: 'varchar', length: 40 })
  name: string;

  @Column({ type: 'varchar', length: 200 })
  allow: string;

  /** raised to end every session that a code for the service opened */
  @Column({ type: 'integer', default: 0 })
  epoch: number;

  /** raised by every change, which so conflicts with others of the service on a multi-primary cluster too */
  @Column({ type: 'integer', default: 1 })
  revision: number;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;

  @Column({ name: 'disabled_at', type: 'bigint', nullable: true })
  disabledAt: number | null;

  @Column({ name: 'removed_at', type: 'bigint', nullable: true })
  removedAt: number | null;
}

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

  @Column({ name: 'last_used_at', type: 'bigint', nullable: true })
  lastUsedAt: number | null;

  @Column({ name: 'revoked_at', type: 'bigint', nullable: true })
  revokedAt: number | null;
}
