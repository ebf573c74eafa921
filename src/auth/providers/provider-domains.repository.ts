import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, In, Index, PrimaryColumn, type Repository } from 'typeorm';
import { isUniqueViolation, type UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { RefusedError } from '../../problems/problem.js';

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

  async insertAll(tx: Transaction, providerId: string, domains: readonly string[]): Promise<void> {
    for (const domain of domains) {
      try {
        await tx.of(this.domains).insert({ domain, providerId });
      } catch (error) {
        if (!isUniqueViolation(error, PROVIDER_DOMAINS_KEY)) throw error;
        throw new RefusedError(`another provider has the domain ${domain} (domain_taken)`);
      }
    }
  }

  async deleteOf(tx: Transaction, providerId: string): Promise<void> {
    await tx.of(this.domains).delete({ providerId });
  }

  async findOf(providerId: string, tx?: Transaction): Promise<string[]> {
    const domains = tx?.of(this.domains) ?? this.domains;
    const rows = await domains.find({ where: { providerId }, order: { domain: 'ASC' } });
    return rows.map(({ domain }) => domain);
  }

  findOfAll(providerIds: readonly string[]): Promise<ProviderDomain[]> {
    return this.domains.find({ where: { providerId: In(providerIds) }, order: { domain: 'ASC' } });
  }
}
