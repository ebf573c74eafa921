import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import { idsOf, NOW_MS } from '../database/statements.js';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';
import { storedScopes } from '../services/service-secrets.js';
import type { User } from '../users/user.entity.js';
import { ApiKey } from './api-key.entity.js';

export type NewApiKeyRow = Omit<ApiKey, 'lastUsedAt'>;

/** in which the lists show that an API key has expired */
const KEPT_AFTER_EXPIRY_MS = 30 * 86_400_000;

/** A key with what its use depends on. */
export interface ApiKeyUse
  extends Omit<ApiKey, 'hash' | 'name'>, Pick<User, 'email' | 'emailVerifiedAt' | 'secondFactorAt'> {
  /** scopes of the service */
  allow: string;
}

const FIND_USE = `SELECT k.id, k.user_id AS userId, k.org_id AS orgId, k.audience, k.role, k.created_at AS createdAt,
    k.expires_at AS expiresAt, k.last_used_at AS lastUsedAt, u.email, u.email_verified_at AS emailVerifiedAt,
    u.second_factor_at AS secondFactorAt, v.allow
  FROM api_keys k JOIN users u ON u.id = k.user_id JOIN services v ON v.name = k.audience
  WHERE k.expires_at > ${NOW_MS} AND u.disabled_at IS NULL AND v.disabled_at IS NULL AND`;

@Injectable()
export class ApiKeysRepository {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly transactions: Transactions,
  ) {}

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

  /** Finds nothing if the key has expired, its user is disabled, or its service does not accept keys. */
  findUse(hash: string): Promise<ApiKeyUse | undefined> {
    return this.findUseBy(`${FIND_USE} k.hash = ?`, hash);
  }

  findUseById(id: string): Promise<ApiKeyUse | undefined> {
    return this.findUseBy(`${FIND_USE} k.id = ?`, id);
  }

  /** An instance with a slow clock does not move the time back. */
  async noteUse(id: string, hour: number): Promise<void> {
    const sql = `UPDATE api_keys SET last_used_at = ?
      WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)`;
    await this.transactions.write(sql, [hour, id, hour]);
  }

  private async findUseBy(sql: string, value: string): Promise<ApiKeyUse | undefined> {
    const [use] = await this.keys.query<ApiKeyUse[]>(sql, [value]);
    return use && storedScopes(use.allow).includes('keys') ? use : undefined;
  }
}
