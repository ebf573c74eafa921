import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import type { Transaction } from '../database/transactions/transactions.js';
import { ApiKey } from './api-key.entity.js';

export type NewApiKeyRow = Omit<ApiKey, 'lastUsedAt'>;

@Injectable()
export class ApiKeysRepository {
  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async insert(tx: Transaction, key: NewApiKeyRow): Promise<void> {
    await tx.of(this.keys).insert(key);
  }

  /** Expired keys count until their rows go. */
  countOwn(tx: Transaction, userId: string): Promise<number> {
    return tx.of(this.keys).countBy({ userId, orgId: IsNull() });
  }

  countOfOrg(tx: Transaction, orgId: string): Promise<number> {
    return tx.of(this.keys).countBy({ orgId });
  }

  findByHash(hash: string): Promise<ApiKey | null> {
    return this.keys.findOneBy({ hash });
  }

  findById(id: string): Promise<ApiKey | null> {
    return this.keys.findOneBy({ id });
  }

  /** Returns false if the user has no such key of their own. */
  async deleteOwn(tx: Transaction, userId: string, id: string): Promise<boolean> {
    return (await tx.of(this.keys).delete({ id, userId, orgId: IsNull() })).affected === 1;
  }

  /** Returns false if the organization has no such key. */
  async deleteOfOrg(tx: Transaction, orgId: string, id: string): Promise<boolean> {
    return (await tx.of(this.keys).delete({ id, orgId })).affected === 1;
  }

  /** Returns false if another request has deleted it. */
  async deleteFound(tx: Transaction, { id, hash }: Pick<ApiKey, 'id' | 'hash'>): Promise<boolean> {
    return (await tx.of(this.keys).delete({ id, hash })).affected === 1;
  }

  /** Also deletes keys of organizations, of those that the user has left too. */
  async deleteOfUser(tx: Transaction, userId: string): Promise<void> {
    await tx.of(this.keys).delete({ userId });
  }
}
