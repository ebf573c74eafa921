import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, In, Index, PrimaryColumn, type Repository } from 'typeorm';
import { isUniqueViolation, type UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { RefusedError } from '../../problems/problem.js';
import type { User } from '../../users/user.entity.js';
import { LOGIN_USER, type LoginUser, type Place } from '../sessions/known-places.repository.js';

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

/** The name of the provider where a user must log in; null if the password is enough. */
export type PasswordLoginUser = LoginUser & Pick<User, 'operatorSince'> & { requiredProvider: string | null };

const REQUIRED = 'r.required = 1 AND r.disabled_at IS NULL';
const FOR_DOMAIN = `SELECT r.name FROM provider_domains d JOIN providers r ON r.id = d.provider_id AND ${REQUIRED}
  WHERE d.domain =`;
/** The provider of the domain comes first, then one that the user is linked to, whose email may have changed. */
const REQUIRED_PROVIDER = `COALESCE((${FOR_DOMAIN} SUBSTR(u.email, INSTR(u.email, '@') + 1)),
  (SELECT MIN(r.name) FROM identities i JOIN providers r ON r.id = i.provider_id AND ${REQUIRED}
    WHERE i.user_id = u.id))`;

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

  /** One statement, so that a login from a known place needs no other. */
  async findPasswordLogin(
    by: { email: string } | { id: string },
    { network, agent }: Place,
  ): Promise<PasswordLoginUser | undefined> {
    const [condition, key] = 'email' in by ? ['u.email = ?', by.email] : ['u.id = ?', by.id];
    const sql = `SELECT ${LOGIN_USER}, u.operator_since AS operatorSince, ${REQUIRED_PROVIDER} AS requiredProvider
      FROM users u WHERE ${condition}`;
    return (await this.domains.query<PasswordLoginUser[]>(sql, [network, agent, key]))[0];
  }

  /** The name of the provider where users with the email must log in. */
  async findRequired(email: string): Promise<string | undefined> {
    const domain = email.slice(email.indexOf('@') + 1);
    return (await this.domains.query<{ name: string }[]>(`${FOR_DOMAIN} ?`, [domain]))[0]?.name;
  }

  async findOfAll(providerIds: readonly string[], tx?: Transaction): Promise<ProviderDomain[]> {
    if (providerIds.length === 0) return [];
    const domains = tx?.of(this.domains) ?? this.domains;
    return domains.find({ where: { providerId: In(providerIds) }, order: { domain: 'ASC' } });
  }
}
