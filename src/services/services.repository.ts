import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, In, IsNull, MoreThan, PrimaryColumn, type Repository } from 'typeorm';
import { isUniqueViolation, type UniqueKey } from '../database/transactions/database-errors.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { RefusedError } from '../problems/problem.js';

const SERVICES_KEY: UniqueKey = { name: 'PRIMARY', columns: 'services.name' };

/** Rows of removed services stay, so that their names are not reused. Times are epoch milliseconds. */
@Entity('services')
export class Service {
  @PrimaryColumn({ type: 'varchar', length: 40 }) name: string;
  @Column({ type: 'varchar', length: 200 }) allow: string;
  @Column({ type: 'integer', default: 0 }) epoch: number;

  /** every change raises it, so that changes conflict on a multi-primary cluster too */
  @Column({ type: 'integer', default: 1 }) revision: number;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'disabled_at', type: 'bigint', nullable: true }) disabledAt: number | null;
  @Column({ name: 'removed_at', type: 'bigint', nullable: true }) removedAt: number | null;
}

@Injectable()
export class ServicesRepository {
  constructor(@InjectRepository(Service) private readonly services: Repository<Service>) {}

  async insert(tx: Transaction, service: Pick<Service, 'name' | 'allow' | 'createdAt'>): Promise<void> {
    try {
      await tx.of(this.services).insert(service);
    } catch (error) {
      if (!isUniqueViolation(error, SERVICES_KEY)) throw error;
      const message = `there is or was a service ${service.name}, and a name cannot be used again`;
      throw new RefusedError(`${message} (service_name_taken)`);
    }
  }

  /** Call it first: no concurrent change of the service can commit, on another node either. */
  async raise(tx: Transaction, name: string): Promise<Service | null> {
    await tx.write('UPDATE services SET revision = revision + 1 WHERE name = ?', [name]);
    return tx.of(this.services).findOneBy({ name });
  }

  async update(
    tx: Transaction,
    name: string,
    change: Partial<Pick<Service, 'allow' | 'epoch' | 'disabledAt' | 'removedAt'>>,
  ): Promise<void> {
    await tx.of(this.services).update({ name }, change);
  }

  isEnabled(name: string): Promise<boolean> {
    return this.services.existsBy({ name, disabledAt: IsNull() });
  }

  findEnabled(): Promise<Pick<Service, 'name' | 'allow'>[]> {
    const select = { name: true, allow: true } as const;
    return this.services.find({ where: { disabledAt: IsNull() }, select, order: { name: 'ASC' } });
  }

  find(name: string, tx?: Transaction): Promise<Service | null> {
    return (tx?.of(this.services) ?? this.services).findOneBy({ name });
  }

  findPage(limit: number, afterName = ''): Promise<Service[]> {
    return this.services.find({ where: { name: MoreThan(afterName) }, order: { name: 'ASC' }, take: limit });
  }

  async findExisting(names: readonly string[]): Promise<string[]> {
    const where = { name: In(names), removedAt: IsNull() };
    return (await this.services.find({ where, select: { name: true } })).map(({ name }) => name);
  }
}
