import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, In, Index, PrimaryColumn, type Repository } from 'typeorm';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';

@Entity('service_secrets')
@Index('service_secrets_service_idx', ['service'])
@Index('service_secrets_hash_key', ['hash'], { unique: true })
export class ServiceSecret {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;

  @Column({ type: 'varchar', length: 40 })
  @ForeignKey('services', { name: 'service_secrets_service_fkey' })
  service: string;

  /** SHA-256, which is enough for 256 random bits */
  @Column({ type: 'varchar', length: 43 }) hash: string;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'last_used_at', type: 'bigint', nullable: true }) lastUsedAt: number | null;
  @Column({ name: 'revoked_at', type: 'bigint', nullable: true }) revokedAt: number | null;
}

export interface ServiceOfSecret {
  secretId: string;
  lastUsedAt: number | null;
  name: string;
  allow: string;
  epoch: number;
}

@Injectable()
export class ServiceSecretsRepository {
  constructor(
    @InjectRepository(ServiceSecret) private readonly secrets: Repository<ServiceSecret>,
    private readonly transactions: Transactions,
  ) {}

  async findServiceOf(hash: string): Promise<ServiceOfSecret | undefined> {
    const sql = `SELECT x.id AS secretId, x.last_used_at AS lastUsedAt, v.name, v.allow, v.epoch
      FROM service_secrets x JOIN services v ON v.name = x.service
      WHERE x.hash = ? AND x.revoked_at IS NULL AND v.disabled_at IS NULL AND v.removed_at IS NULL`;
    return (await this.secrets.query<ServiceOfSecret[]>(sql, [hash]))[0];
  }

  /** An instance with a slow clock does not move the time back. */
  async noteUse(id: string, hour: number): Promise<void> {
    const sql = `UPDATE service_secrets SET last_used_at = ?
      WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)`;
    await this.transactions.write(sql, [hour, id, hour]);
  }

  async insert(
    tx: Transaction,
    secret: Pick<ServiceSecret, 'id' | 'service' | 'hash' | 'createdAt'>,
  ): Promise<void> {
    await tx.of(this.secrets).insert(secret);
  }

  async revoke(tx: Transaction, ids: readonly string[], revokedAt: number): Promise<void> {
    await tx.of(this.secrets).update({ id: In(ids) }, { revokedAt });
  }

  findOf(service: string, tx?: Transaction): Promise<ServiceSecret[]> {
    const secrets = tx?.of(this.secrets) ?? this.secrets;
    return secrets.find({ where: { service }, order: { createdAt: 'ASC', id: 'ASC' } });
  }
}
