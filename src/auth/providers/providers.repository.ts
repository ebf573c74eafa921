import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, Index, PrimaryColumn, type Repository } from 'typeorm';
import type { UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';

export const PROVIDERS_NAME_KEY: UniqueKey = { name: 'providers_name_key', columns: 'providers.name' };

/** An OpenID Connect provider where a company's users log in. */
@Entity('providers')
@Index(PROVIDERS_NAME_KEY.name, ['name'], { unique: true })
export class Provider {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', length: 40 }) name: string;
  @Column({ type: 'varchar', length: 100 }) title: string;
  /** as in the discovery document; never changes */
  @Column({ type: 'varchar', length: 500 }) issuer: string;
  @Column({ name: 'client_id', type: 'varchar', length: 255 }) clientId: string;
  /** encrypted */
  @Column({ type: 'varchar', length: 2000, select: false }) secret: string;
  /** whether its users cannot log in with a password */
  @Column({ type: 'tinyint', default: 0 }) required: 0 | 1;
  /** what no statement searches for, as JSON */
  @Column({ type: 'varchar', length: 4000 }) settings: string;
  @Column({ type: 'integer', default: 1 }) revision: number;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'disabled_at', type: 'bigint', nullable: true }) disabledAt: number | null;
}

@Injectable()
export class ProvidersRepository {
  constructor(@InjectRepository(Provider) private readonly providers: Repository<Provider>) {}

  async insert(tx: Transaction, provider: Provider): Promise<void> {
    await tx.of(this.providers).insert(provider);
  }
}
