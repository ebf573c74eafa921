import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Env } from '../config/env.js';
import { NOW_MS } from '../database/statements.js';
import { LATEST } from '../events/events.repository.js';
import { IS_FACTOR_REQUIRED } from '../orgs/state/orgs.repository.js';
import { storedScopes } from '../services/service-secrets.js';
import { ApiKey } from './api-key.entity.js';

export const API_KEY_STATES = ['active', 'suspended', 'expired'] as const;

export type ApiKeyState = (typeof API_KEY_STATES)[number];

export interface ListedApiKey extends Omit<ApiKey, 'hash'> {
  email: string;
  state: ApiKeyState;
}

const FILTERS = { userId: 'k.user_id = ? AND ', orgId: 'k.org_id = ? AND ', audience: 'k.audience = ? AND ' };

/** At most one of them, for which there is an index. */
export type ApiKeyFilter = Partial<Record<keyof typeof FILTERS, string>>;

interface ListedRow extends Omit<ApiKey, 'hash'> {
  email: string;
  isExpired: 0 | 1;
  isUserVerified: 0 | 1;
  /** what the state depends on, but for the scope and the verification */
  isUsable: 0 | 1;
  allow: string;
}

// SQLite keeps the order of a CROSS JOIN, and would sort all keys in another one.
const LISTED = `SELECT k.id, k.user_id AS userId, k.org_id AS orgId, k.audience, k.role, k.name,
    k.created_at AS createdAt, k.expires_at AS expiresAt, k.last_used_at AS lastUsedAt, u.email, v.allow,
    k.expires_at <= ${NOW_MS} AS isExpired, u.email_verified_at IS NOT NULL AS isUserVerified,
    u.disabled_at IS NULL AND v.disabled_at IS NULL AND v.removed_at IS NULL AND (k.org_id IS NULL OR (
      m.user_id IS NOT NULL AND o.deleted_at IS NULL
      AND NOT (${IS_FACTOR_REQUIRED} AND u.second_factor_at IS NULL))) AS isUsable
  FROM api_keys k CROSS JOIN users u ON u.id = k.user_id CROSS JOIN services v ON v.name = k.audience
    LEFT JOIN orgs o ON o.id = k.org_id
    LEFT JOIN members m ON m.org_id = k.org_id AND m.user_id = k.user_id`;

@Injectable()
export class ApiKeyListsRepository {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly env: Env,
  ) {}

  /** Newest first, at most the 50 that a user can have. */
  listOwn(userId: string): Promise<ListedApiKey[]> {
    return this.list('k.user_id = ? AND k.org_id IS NULL ORDER BY k.id DESC', userId);
  }

  listOfOrg(orgId: string): Promise<ListedApiKey[]> {
    return this.list('k.org_id = ? ORDER BY k.id DESC', orgId);
  }

  /** Newest first. */
  findPage(filter: ApiKeyFilter, limit: number, beforeId = LATEST): Promise<ListedApiKey[]> {
    const [[field, value] = []] = Object.entries(filter) as [keyof ApiKeyFilter, string][];
    const condition = field === undefined ? '' : FILTERS[field];
    const values = value === undefined ? [] : [value];
    return this.list(`${condition}k.id < ? ORDER BY k.id DESC LIMIT ?`, ...values, beforeId, limit);
  }

  private async list(condition: string, ...values: (string | number)[]): Promise<ListedApiKey[]> {
    const rows = await this.keys.query<ListedRow[]>(`${LISTED} WHERE ${condition}`, values);
    return rows.map((row) => this.listed(row));
  }

  private listed({ isExpired, isUserVerified, isUsable, allow, ...key }: ListedRow): ListedApiKey {
    const isVerified = isUserVerified === 1 || this.env.emailVerification !== 'required';
    const isActive = isUsable === 1 && isVerified && storedScopes(allow).includes('keys');
    if (isExpired) return { ...key, state: 'expired' };
    return { ...key, state: isActive ? 'active' : 'suspended' };
  }
}
