import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import { idsOf, NOW_MS } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { ApiKey } from './api-key.entity.js';

export type NewApiKeyRow = Omit<ApiKey, 'lastUsedAt'>;

/** in which the lists show that an API key has expired */
const KEPT_AFTER_EXPIRY_MS = 30 * 86_400_000;

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

  /** At most the 100 that an organization can have. */
  async deleteAllOfOrg(tx: Transaction, orgId: string): Promise<number> {
    return (await tx.of(this.keys).delete({ orgId })).affected ?? 0;
  }

  /** Locks the rows, so that each of them is deleted by the caller alone. */
  async findIdsOf(tx: Transaction, userId: string): Promise<string[]> {
    const sql = `SELECT id FROM api_keys WHERE user_id = ? ORDER BY id${tx.forUpdate}`;
    return idsOf(await tx.read<{ id: string }>(sql, [userId]));
  }

  async findPresent(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    return idsOf(await this.keys.find({ where: { id: In(ids) }, select: { id: true } }));
  }

  async countUnexpired(): Promise<number> {
    const sql = `SELECT COUNT(*) AS count FROM api_keys WHERE expires_at > ${NOW_MS}`;
    return Number((await this.keys.query<{ count: number | string }[]>(sql))[0]!.count);
  }

  async findOld(now: number, limit: number): Promise<string[]> {
    const sql = 'SELECT id FROM api_keys WHERE expires_at < ? ORDER BY expires_at LIMIT ?';
    return idsOf(await this.keys.query(sql, [now - KEPT_AFTER_EXPIRY_MS, limit]));
  }

  async purge(ids: readonly string[]): Promise<void> {
    await this.keys.delete({ id: In(ids) });
  }
}
