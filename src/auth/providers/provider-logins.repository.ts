import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, Index, PrimaryColumn, type Repository } from 'typeorm';
import type { Transaction } from '../../database/transactions/transactions.js';

/** A login that the provider has confirmed, until the program finishes it. */
@Entity('provider_logins')
@Index('provider_logins_expires_at_idx', ['expiresAt'])
export class ProviderLogin {
  /** a MAC over the program's challenge, keyed by the code */
  @PrimaryColumn({ type: 'varchar', length: 43 }) hash: string;
  @Column({ name: 'provider_id', type: 'varchar', length: 36 }) providerId: string;
  @Column({ type: 'varchar', length: 255 }) subject: string;
  @Column({ type: 'varchar', length: 254, nullable: true }) email: string | null;
  @Column({ name: 'email_verified', type: 'tinyint' }) emailVerified: 0 | 1;
  @Column({ type: 'varchar', length: 100, nullable: true }) name: string | null;
  /** when the user authenticated at the provider; null if the provider does not say */
  @Column({ name: 'auth_time', type: 'bigint', nullable: true }) authTime: number | null;
  @Column({ type: 'integer', default: 0 }) tries: number;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'expires_at', type: 'bigint' }) expiresAt: number;
}

@Injectable()
export class ProviderLoginsRepository {
  constructor(@InjectRepository(ProviderLogin) private readonly logins: Repository<ProviderLogin>) {}

  async insert(tx: Transaction, login: Omit<ProviderLogin, 'tries'>): Promise<void> {
    await tx.of(this.logins).insert(login);
  }

  async deleteOfProvider(tx: Transaction, providerId: string): Promise<void> {
    await tx.of(this.logins).delete({ providerId });
  }
}
