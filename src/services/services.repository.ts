import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, type Repository } from 'typeorm';
import { isUniqueViolation } from '../database/transactions/database-errors.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { Service, SERVICES_KEY } from './service.entity.js';
import { RefusedError } from '../problems/problem.js';

type NewService = Pick<Service, 'name' | 'allow' | 'createdAt'>;

@Injectable()
export class ServicesRepository {
  constructor(@InjectRepository(Service) private readonly services: Repository<Service>) {}

  /** @throws RefusedError if the name is, or was, that of a service */
  async insert(transaction: Transaction, service: NewService): Promise<void> {
    try {
      await transaction.of(this.services).insert(service);
    } catch (error) {
      if (!isUniqueViolation(error, SERVICES_KEY)) throw error;
      const message = `there is or was a service ${service.name}, and names are not given a second time`;
      throw new RefusedError(`${message} (service_name_taken)`);
    }
  }

  /** Begin with it: no other change of the service, on another node either, can commit beside this one. */
  async lock(transaction: Transaction, name: string): Promise<Service | null> {
    await transaction.write('UPDATE services SET revision = revision + 1 WHERE name = ?', [name]);
    return transaction.of(this.services).findOneBy({ name });
  }

  async update(
    transaction: Transaction,
    name: string,
    change: Partial<Pick<Service, 'allow' | 'epoch' | 'disabledAt' | 'removedAt'>>,
  ): Promise<void> {
    await transaction.of(this.services).update({ name }, change);
  }

  isEnabled(name: string): Promise<boolean> {
    return this.services.existsBy({ name, disabledAt: IsNull() });
  }

  find(name: string): Promise<Service | null> {
    return this.services.findOneBy({ name });
  }

  findPage(limit: number, afterName = ''): Promise<Service[]> {
    return this.services.find({ where: { name: MoreThan(afterName) }, order: { name: 'ASC' }, take: limit });
  }

  async findExisting(names: readonly string[]): Promise<string[]> {
    const where = { name: In(names), removedAt: IsNull() };
    return (await this.services.find({ where, select: { name: true } })).map(({ name }) => name);
  }
}
