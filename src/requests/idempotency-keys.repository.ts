import { Column, Entity, Index, PrimaryColumn, type Repository } from 'typeorm';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUniqueViolation, type UniqueKey } from '../database/transactions/database-errors.js';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';
import { Problem } from '../problems/problem.js';

export const IDEMPOTENCY_KEYS_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'idempotency_keys.user_id, idempotency_keys.key_hash',
};

/** draft-ietf-httpapi-idempotency-key-header */
@Entity('idempotency_keys')
@Index('idempotency_keys_expires_at_idx', ['expiresAt'])
@Index('idempotency_keys_user_id_expires_at_idx', ['userId', 'expiresAt'])
export class IdempotencyKey {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 }) userId: string;
  @PrimaryColumn({ name: 'key_hash', type: 'varchar', length: 43 }) keyHash: string;
  @Column({ type: 'varchar', length: 43 }) fingerprint: string;
  @Column({ type: 'integer' }) status: number;

  /** JSON without codes. The longest answers, invitations with two emails, need less than half of the length. */
  @Column({ type: 'varchar', length: 2000 }) body: string;
  @Column({ name: 'expires_at', type: 'bigint' }) expiresAt: number;
}

type KeptAnswer = Pick<IdempotencyKey, 'fingerprint' | 'status' | 'body' | 'expiresAt'>;

type KeyOfUser = Pick<IdempotencyKey, 'userId' | 'keyHash'>;

export const KEY_RETENTION_MS = 86_400_000;

/** per user: 10,000 answers are a few megabytes */
const MAX_KEYS = 10_000;

/** The clean-up looks for users with too many keys only among those who wrote lately. It runs each minute. */
const LATELY_MS = 300_000;

@Injectable()
export class IdempotencyKeysRepository {
  constructor(
    @InjectRepository(IdempotencyKey) private readonly keys: Repository<IdempotencyKey>,
    private readonly transactions: Transactions,
  ) {}

  async find(userId: string, keyHash: string, tx?: Transaction): Promise<KeptAnswer | undefined> {
    const sql = `SELECT k.fingerprint, k.status, k.body, k.expires_at AS expiresAt FROM idempotency_keys k
      WHERE k.user_id = ? AND k.key_hash = ?`;
    const values = [userId, keyHash];
    const rows = await (tx ? tx.read<KeptAnswer>(sql, values) : this.keys.query<KeptAnswer[]>(sql, values));
    return rows[0];
  }

  async insert(tx: Transaction, key: IdempotencyKey): Promise<void> {
    const { userId, keyHash, fingerprint, status, body, expiresAt } = key;
    const sql = `INSERT INTO idempotency_keys (user_id, key_hash, fingerprint, status, body, expires_at)
      VALUES (?, ?, ?, ?, ?, ?)`;
    try {
      await tx.write(sql, [userId, keyHash, fingerprint, status, body, expiresAt]);
    } catch (error) {
      throw isUniqueViolation(error, IDEMPOTENCY_KEYS_KEY) ? new Problem('idempotency_key_reused') : error;
    }
  }

  async deleteExpired(tx: Transaction, { userId, keyHash }: KeyOfUser): Promise<void> {
    const sql = 'DELETE FROM idempotency_keys WHERE user_id = ? AND key_hash = ? AND expires_at <= ?';
    await tx.write(sql, [userId, keyHash, Date.now()]);
  }

  async deleteAllOf(tx: Transaction, userId: string): Promise<void> {
    await tx.write('DELETE FROM idempotency_keys WHERE user_id = ?', [userId]);
  }

  findExpired(before: number, limit: number): Promise<KeyOfUser[]> {
    const sql = `SELECT k.user_id AS userId, k.key_hash AS keyHash FROM idempotency_keys k
      WHERE k.expires_at < ? ORDER BY k.expires_at LIMIT ?`;
    return this.keys.query<KeyOfUser[]>(sql, [before, limit]);
  }

  /** Finds the oldest keys of a user who has more than 10,000. */
  async findExcess(now: number, limit: number): Promise<KeyOfUser[]> {
    type Full = { userId: string; lastExpiresAt: number };
    const findFull = `SELECT f.userId, f.lastExpiresAt FROM (
        SELECT part.userId, (SELECT k.expires_at FROM idempotency_keys k WHERE k.user_id = part.userId
          ORDER BY k.expires_at DESC LIMIT 1 OFFSET ${MAX_KEYS}) AS lastExpiresAt
        FROM (SELECT DISTINCT n.user_id AS userId FROM idempotency_keys n WHERE n.expires_at > ?) part
      ) f WHERE f.lastExpiresAt IS NOT NULL LIMIT 1`;
    const [full] = await this.keys.query<Full[]>(findFull, [now + KEY_RETENTION_MS - LATELY_MS]);
    if (!full) return [];
    const sql = `SELECT k.user_id AS userId, k.key_hash AS keyHash FROM idempotency_keys k
      WHERE k.user_id = ? AND k.expires_at <= ? ORDER BY k.expires_at LIMIT ?`;
    return this.keys.query<KeyOfUser[]>(sql, [full.userId, full.lastExpiresAt, limit]);
  }

  async delete(keys: readonly KeyOfUser[]): Promise<void> {
    await this.transactions.write(
      `DELETE FROM idempotency_keys WHERE ${keys.map(() => '(user_id = ? AND key_hash = ?)').join(' OR ')}`,
      keys.flatMap(({ userId, keyHash }) => [userId, keyHash]),
    );
  }
}
