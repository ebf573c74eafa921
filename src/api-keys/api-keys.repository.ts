import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, In, Index, IsNull, PrimaryColumn, type Repository } from 'typeorm';
import type { Role } from '../access/principal.js';
import { mustVerifyEmail } from '../access/route-access.js';
import { Env } from '../config/env.js';
import { idsOf, NOW_MS } from '../database/statements.js';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';
import { LATEST } from '../events/events.repository.js';
import { IS_FACTOR_REQUIRED } from '../orgs/state/orgs.repository.js';
import { acceptsApiKeys } from '../services/service-secrets.js';
import type { User } from '../users/user.entity.js';

export const MAX_API_KEY_NAME = 60;

/** Revoking deletes the row; the audit log keeps the history. Times are epoch milliseconds. */
@Entity('api_keys')
@Index('api_keys_hash_key', ['hash'], { unique: true })
@Index('api_keys_user_id_org_id_idx', ['userId', 'orgId'])
@Index('api_keys_org_id_idx', ['orgId'])
@Index('api_keys_audience_id_idx', ['audience', 'id'])
@Index('api_keys_expires_at_idx', ['expiresAt'])
export class ApiKey {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;

  /** SHA-256, which is enough for 256 random bits */
  @Column({ type: 'varchar', length: 43 }) hash: string;

  @Column({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'api_keys_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** the only organization that the key is for; null for a key of the user's own */
  @Column({ name: 'org_id', type: 'varchar', length: 36, nullable: true })
  @ForeignKey('orgs', { name: 'api_keys_org_id_fkey', onDelete: 'CASCADE' })
  orgId: string | null;

  /** the only service that the key is for */
  @Column({ type: 'varchar', length: 40 }) audience: string;

  /** the most that the key may have */
  @Column({ type: 'varchar', length: 6 }) role: Role;
  @Column({ type: 'varchar', length: MAX_API_KEY_NAME }) name: string;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'expires_at', type: 'bigint' }) expiresAt: number;
  @Column({ name: 'last_used_at', type: 'bigint', nullable: true }) lastUsedAt: number | null;
}

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
    u.disabled_at IS NULL AND v.disabled_at IS NULL AND (k.org_id IS NULL OR (
      m.user_id IS NOT NULL AND o.deleted_at IS NULL
      AND NOT (${IS_FACTOR_REQUIRED} AND u.second_factor_at IS NULL))) AS isUsable
  FROM api_keys k CROSS JOIN users u ON u.id = k.user_id CROSS JOIN services v ON v.name = k.audience
    LEFT JOIN orgs o ON o.id = k.org_id
    LEFT JOIN members m ON m.org_id = k.org_id AND m.user_id = k.user_id`;

@Injectable()
export class ApiKeysRepository {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly transactions: Transactions,
    private readonly env: Env,
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

  private async findUseBy(sql: string, value: string): Promise<ApiKeyUse | undefined> {
    const [use] = await this.keys.query<ApiKeyUse[]>(sql, [value]);
    return use && acceptsApiKeys(use.allow) ? use : undefined;
  }

  private async list(condition: string, ...values: (string | number)[]): Promise<ListedApiKey[]> {
    const rows = await this.keys.query<ListedRow[]>(`${LISTED} WHERE ${condition}`, values);
    return rows.map((row) => this.listed(row));
  }

  private listed({ isExpired, isUserVerified, isUsable, allow, ...key }: ListedRow): ListedApiKey {
    const isRefused = mustVerifyEmail({ emailVerified: isUserVerified === 1 }, this.env);
    const isActive = isUsable === 1 && !isRefused && acceptsApiKeys(allow);
    if (isExpired) return { ...key, state: 'expired' };
    return { ...key, state: isActive ? 'active' : 'suspended' };
  }
}
