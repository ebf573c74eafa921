import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, Index, PrimaryColumn, type Repository } from 'typeorm';
import type { UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';

export const PROVIDER_DOMAINS_KEY: UniqueKey = { name: 'PRIMARY', columns: 'provider_domains.domain' };

/** A domain of emails for which one provider speaks. */
@Entity('provider_domains')
@Index('provider_domains_provider_id_idx', ['providerId'])
export class ProviderDomain {
  @PrimaryColumn({ type: 'varchar', length: 253 }) domain: string;

  @Column({ name: 'provider_id', type: 'varchar', length: 36 })
  @ForeignKey('providers', { name: 'provider_domains_provider_id_fkey', onDelete: 'CASCADE' })
  providerId: string;
}

@Injectable()
export class ProviderDomainsRepository {
  constructor(@InjectRepository(ProviderDomain) private readonly domains: Repository<ProviderDomain>) {}

  async insert(tx: Transaction, domain: ProviderDomain): Promise<void> {
    await tx.of(this.domains).insert(domain);
  }
}
