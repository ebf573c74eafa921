import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, Index, IsNull, MoreThan, PrimaryColumn, type Repository } from 'typeorm';
import { isUniqueViolation, type UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { RefusedError } from '../../problems/problem.js';

export const PROVIDERS_NAME_KEY: UniqueKey = { name: 'providers_name_key', columns: 'providers.name' };

const PAGE = 500;

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
  @Column({ type: 'varchar', length: 2000 }) secret: string;
  /** whether its users cannot log in with a password */
  @Column({ type: 'tinyint', default: 0 }) required: 0 | 1;
  /** what no statement searches for, as JSON */
  @Column({ type: 'varchar', length: 4000 }) settings: string;
  @Column({ type: 'integer', default: 1 }) revision: number;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'disabled_at', type: 'bigint', nullable: true }) disabledAt: number | null;
}

export type ShownProvider = Pick<Provider, 'name' | 'title' | 'required'> & { domain: string | null };

@Injectable()
export class ProvidersRepository {
  constructor(@InjectRepository(Provider) private readonly providers: Repository<Provider>) {}

  async insert(tx: Transaction, provider: Omit<Provider, 'revision' | 'disabledAt'>): Promise<void> {
    try {
      await tx.of(this.providers).insert({ ...provider, revision: 1, disabledAt: null });
    } catch (error) {
      if (!isUniqueViolation(error, PROVIDERS_NAME_KEY)) throw error;
      throw new RefusedError(`there is a provider ${provider.name} (provider_name_taken)`);
    }
  }

  /** Call it first: no concurrent change of the provider can commit, on another node either. */
  async raise(tx: Transaction, name: string): Promise<Provider | null> {
    await tx.write('UPDATE providers SET revision = revision + 1 WHERE name = ?', [name]);
    return tx.of(this.providers).findOneBy({ name });
  }

  async update(
    tx: Transaction,
    id: string,
    change: Partial<Omit<Provider, 'id' | 'name' | 'issuer' | 'revision' | 'createdAt'>>,
  ): Promise<void> {
    await tx.of(this.providers).update({ id }, change);
  }

  async delete(tx: Transaction, id: string): Promise<void> {
    await tx.of(this.providers).delete({ id });
  }

  find(name: string): Promise<Provider | null> {
    return this.providers.findOneBy({ name });
  }

  findAll(): Promise<Provider[]> {
    return this.providers.find({ order: { name: 'ASC' } });
  }

  /** What the forms of programs show: the enabled ones by title, one row for each domain. */
  findShown(): Promise<ShownProvider[]> {
    const sql = `SELECT r.name, r.title, r.required, d.domain FROM providers r
        LEFT JOIN provider_domains d ON d.provider_id = r.id
      WHERE r.disabled_at IS NULL ORDER BY r.title, r.name, d.domain`;
    return this.providers.query<ShownProvider[]>(sql);
  }

  /** A page of the encrypted secrets, whose row keys are the ids. */
  findSecrets(afterId: string): Promise<Pick<Provider, 'id' | 'secret'>[]> {
    const where = { id: MoreThan(afterId) };
    return this.providers.find({
      where,
      select: { id: true, secret: true },
      order: { id: 'ASC' },
      take: PAGE,
    });
  }

  async replaceSecret(id: string, secret: string, replacement: string): Promise<void> {
    await this.providers.update({ id, secret }, { secret: replacement });
  }

  findEnabled(name: string): Promise<Provider | null> {
    return this.providers.findOneBy({ name, disabledAt: IsNull() });
  }

  /** The lock of a first login: the provider stays enabled until COMMIT. A write, because only writes conflict on a cluster. */
  async raiseEnabled(tx: Transaction, id: string): Promise<boolean> {
    const sql = 'UPDATE providers SET revision = revision + 1 WHERE id = ? AND disabled_at IS NULL';
    return (await tx.write(sql, [id])) === 1;
  }
}
