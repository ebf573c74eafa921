import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { hotStatement } from '../../database/hot-statements.js';
import { places } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { IS_ALIVE, WITH_USER_AND_PARENT } from './alive.js';
import { Session } from './session.entity.js';

const HELD = {
  id: true,
  parentId: true,
  authTime: true,
  createdAt: true,
  rotatedAt: true,
  expiresAt: true,
  revokedAt: true,
  ip: true,
  userAgent: true,
} as const;

/** A session as its user may see it, alive or not. */
export type HeldSession = Pick<Session, keyof typeof HELD>;

const FIND_SOME_OF = hotStatement(
  'the sessions of a user who is deleted',
  'SELECT id FROM sessions WHERE user_id = ? LIMIT ?',
  ['', 1],
);

/** As its user sees one that is alive. */
export type OwnSession = Pick<
  Session,
  'id' | 'userId' | 'parentId' | 'createdAt' | 'rotatedAt' | 'expiresAt' | 'ip' | 'userAgent'
>;

/** More than a user may have opened by codes, and room for logins. */
const MAX_LISTED = 2000;

const FIND_ALIVE = `SELECT s.id, s.user_id AS userId, s.parent_id AS parentId, s.created_at AS createdAt,
    s.rotated_at AS rotatedAt, s.expires_at AS expiresAt, s.ip, s.user_agent AS userAgent
  FROM sessions s ${WITH_USER_AND_PARENT}
  WHERE s.user_id = ? AND s.expires_at > ? AND ${IS_ALIVE}`;

const COUNT_ALIVE = `SELECT COUNT(*) AS alive FROM sessions s ${WITH_USER_AND_PARENT}
  WHERE s.user_id = ? AND s.expires_at > ? AND ${IS_ALIVE}`;

/** All the sessions of one user. */
@Injectable()
export class UserSessionsRepository {
  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  async countAlive(userId: string, now: number): Promise<number> {
    const [row] = await this.sessions.query<{ alive: number }[]>(COUNT_ALIVE, [userId, now]);
    return row!.alive;
  }

  /** Those that have ended included. */
  countAll(userId: string): Promise<number> {
    return this.sessions.countBy({ userId });
  }

  /** Ids of those that are alive and that codes opened, the oldest first. */
  async findOldestDerived(userId: string, limit: number): Promise<string[]> {
    const sql = `${FIND_ALIVE} AND s.parent_id IS NOT NULL ORDER BY s.id LIMIT ?`;
    const rows = await this.sessions.query<OwnSession[]>(sql, [userId, Date.now(), limit]);
    return rows.map(({ id }) => id);
  }

  /** The latest first. */
  listAlive(userId: string): Promise<OwnSession[]> {
    const sql = `${FIND_ALIVE} ORDER BY s.id DESC LIMIT ${MAX_LISTED}`;
    return this.sessions.query<OwnSession[]>(sql, [userId, Date.now()]);
  }

  async findAlive(userId: string, id: string): Promise<OwnSession | undefined> {
    const values = [userId, Date.now(), id];
    return (await this.sessions.query<OwnSession[]>(`${FIND_ALIVE} AND s.id = ?`, values))[0];
  }

  /**
   * Takes a login into the epoch that the transaction has begun for its user. False where the login had ended by
   * then: what was checked before the transaction may be over.
   */
  async keep(transaction: Transaction, userId: string, id: string): Promise<boolean> {
    const kept = await transaction.write(
      `UPDATE sessions SET auth_epoch = auth_epoch + 1
        WHERE id = ? AND user_id = ? AND parent_id IS NULL AND revoked_at IS NULL
          AND auth_epoch + 1 = (SELECT auth_epoch FROM users WHERE id = ?)`,
      [id, userId, userId],
    );
    return kept === 1;
  }

  /** By id. */
  findPageOf(userId: string, afterId: string, limit: number): Promise<HeldSession[]> {
    return this.sessions.find({
      where: { userId, id: MoreThan(afterId) },
      select: HELD,
      order: { id: 'ASC' },
      take: limit,
    });
  }

  /** Some of a user's sessions: nobody can issue a code from them until COMMIT. */
  async findSomeOf(transaction: Transaction, userId: string, limit: number): Promise<string[]> {
    const rows = await transaction.read<{ id: string }>(FIND_SOME_OF + transaction.forUpdate, [
      userId,
      limit,
    ]);
    return rows.map(({ id }) => id);
  }

  async deleteIn(transaction: Transaction, ids: readonly string[]): Promise<void> {
    await transaction.write(`DELETE FROM sessions WHERE id IN (${places(ids.length)})`, [...ids]);
  }
}
