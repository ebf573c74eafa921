import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { hotStatement } from '../../database/hot-statements.js';
import { places } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { IS_ALIVE, WITH_USER_AND_PARENT } from './alive.js';
import { Session } from './session.entity.js';

/** A session as its user may see it, alive or not. */
export type HeldSession = Pick<
  Session,
  'id' | 'parentId' | 'authTime' | 'createdAt' | 'expiresAt' | 'revokedAt'
>;

const FIND_SOME_OF = hotStatement(
  'the sessions of a user who is deleted',
  'SELECT id FROM sessions WHERE user_id = ? LIMIT ?',
  ['', 1],
);

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

  /** By id. */
  findPageOf(userId: string, afterId: string, limit: number): Promise<HeldSession[]> {
    return this.sessions.find({
      where: { userId, id: MoreThan(afterId) },
      select: { id: true, parentId: true, authTime: true, createdAt: true, expiresAt: true, revokedAt: true },
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
