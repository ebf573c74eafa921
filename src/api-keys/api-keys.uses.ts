import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { NOW_MS } from '../database/statements.js';
import { Transactions } from '../database/transactions/transactions.js';
import { storedScopes } from '../services/service-secrets.js';
import type { User } from '../users/user.entity.js';
import { ApiKey } from './api-key.entity.js';

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
export class ApiKeyUsesRepository {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly transactions: Transactions,
  ) {}

  /** Finds nothing if the key has expired, its user is disabled, or its service does not accept keys. */
  findUse(hash: string): Promise<ApiKeyUse | undefined> {
    return this.find(`${FIND_USE} k.hash = ?`, hash);
  }

  findUseById(id: string): Promise<ApiKeyUse | undefined> {
    return this.find(`${FIND_USE} k.id = ?`, id);
  }

  /** An instance with a slow clock does not move the time back. */
  async noteUse(id: string, hour: number): Promise<void> {
    const sql = `UPDATE api_keys SET last_used_at = ?
      WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)`;
    await this.transactions.write(sql, [hour, id, hour]);
  }

  private async find(sql: string, value: string): Promise<ApiKeyUse | undefined> {
    const [use] = await this.keys.query<ApiKeyUse[]>(sql, [value]);
    return use && storedScopes(use.allow).includes('keys') ? use : undefined;
  }
}
