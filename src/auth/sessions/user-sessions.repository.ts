import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { AuthenticationMethod } from '../../access/principal.js';
import { hotStatement } from '../../database/hot-statements.js';
import { places } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { storedMethods } from './authentication-methods.js';
import { IS_ALIVE, JOIN_PARENT, JOIN_SERVICE } from './alive.js';
import { Session } from './session.entity.js';

export interface HeldSession extends Pick<
  Session,
  | 'id'
  | 'parentId'
  | 'authTime'
  | 'authEpoch'
  | 'createdAt'
  | 'rotatedAt'
  | 'expiresAt'
  | 'revokedAt'
  | 'ip'
  | 'userAgent'
  | 'deviceName'
> {
  /** whether it ended with all other sessions of the user */
  isOfEndedEpoch: 0 | 1;
}

const FIND_PAGE_OF = `SELECT s.id, s.parent_id AS parentId, s.auth_time AS authTime, s.auth_epoch AS authEpoch,
      s.created_at AS createdAt, s.rotated_at AS rotatedAt, s.expires_at AS expiresAt, s.revoked_at AS revokedAt,
      s.ip, s.user_agent AS userAgent, s.device_name AS deviceName, s.auth_epoch < u.auth_epoch AS isOfEndedEpoch
    FROM users u JOIN sessions s ON s.user_id = u.id WHERE u.id = ? AND s.id > ? ORDER BY s.id LIMIT ?`;

const FIND_SOME_OF = hotStatement(
  'the sessions of a user who is deleted',
  'SELECT id FROM sessions WHERE user_id = ? LIMIT ?',
  ['', 1],
);

export type OwnSession = Pick<
  Session,
  | 'id'
  | 'userId'
  | 'parentId'
  | 'createdAt'
  | 'rotatedAt'
  | 'expiresAt'
  | 'ip'
  | 'userAgent'
  | 'deviceName'
  | 'service'
>;

export type EndedSession = Pick<Session, 'id' | 'parentId' | 'codeHash'>;

/** Users may have fewer sessions opened by codes, which leaves room for logins. */
const MAX_LISTED = 2000;

/** The index used leads to no session that has expired, was revoked or is of an epoch that has ended. */
const ALIVE_OF_USER = `FROM users u JOIN sessions s ON s.user_id = u.id ${JOIN_PARENT} ${JOIN_SERVICE}
  WHERE u.id = ? AND s.expires_at > ? AND ${IS_ALIVE}`;

/** Callers may add an order: MariaDB sorts what it reads by the index above, which is no more than the limit. */
const FIND_ALIVE = hotStatement(
  'the live sessions of a user',
  `SELECT s.id, s.user_id AS userId, s.parent_id AS parentId, s.created_at AS createdAt,
    s.rotated_at AS rotatedAt, s.expires_at AS expiresAt, s.ip, s.user_agent AS userAgent,
    s.device_name AS deviceName, s.service ${ALIVE_OF_USER}`,
  ['', 0],
);

const COUNT_ALIVE = hotStatement('the count of live sessions', `SELECT COUNT(*) AS alive ${ALIVE_OF_USER}`, [
  '',
  0,
]);

const FIND_AT = hotStatement(
  'whether a user has many sessions',
  'SELECT id FROM sessions WHERE user_id = ? LIMIT 1 OFFSET ?',
  ['', 1],
);

/** Derived sessions mostly come before those that they are derived from. */
const FIND_ENDED = hotStatement(
  'the ended sessions of a user',
  `SELECT s.id, s.parent_id AS parentId, s.code_hash AS codeHash FROM users u JOIN sessions s ON s.user_id = u.id
    WHERE u.id = ? AND s.auth_epoch <= u.auth_epoch
      AND (s.auth_epoch < u.auth_epoch OR s.revoked_at > 0 OR s.expires_at < ?) AND s.created_at < ?
    ORDER BY s.auth_epoch DESC, s.revoked_at DESC, s.expires_at DESC LIMIT ?`,
  ['', 0, 0, 1],
);

@Injectable()
export class UserSessionsRepository {
  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  async countAlive(userId: string, now: number): Promise<number> {
    const [row] = await this.sessions.query<{ alive: number }[]>(COUNT_ALIVE, [userId, now]);
    return row!.alive;
  }

  async hasMoreThan(userId: string, count: number): Promise<boolean> {
    return (await this.sessions.query<unknown[]>(FIND_AT, [userId, count])).length > 0;
  }

  /** Finds sessions dead for good. All derived from them are dead too, or will be once their revocation is done. */
  findEnded(userId: string, createdBefore: number, limit: number): Promise<EndedSession[]> {
    const expiredBefore = Date.now() - LEEWAY_SECONDS * 1000;
    return this.sessions.query<EndedSession[]>(FIND_ENDED, [userId, expiredBefore, createdBefore, limit]);
  }

  async findOldestDerived(userId: string, limit: number): Promise<string[]> {
    const sql = `${FIND_ALIVE} AND s.parent_id IS NOT NULL ORDER BY s.id LIMIT ?`;
    const rows = await this.sessions.query<OwnSession[]>(sql, [userId, Date.now(), limit]);
    return rows.map(({ id }) => id);
  }

  listAlive(userId: string): Promise<OwnSession[]> {
    const sql = `${FIND_ALIVE} ORDER BY s.id DESC LIMIT ${MAX_LISTED}`;
    return this.sessions.query<OwnSession[]>(sql, [userId, Date.now()]);
  }

  async findAlive(userId: string, id: string): Promise<OwnSession | undefined> {
    const values = [userId, Date.now(), id];
    return (await this.sessions.query<OwnSession[]>(`${FIND_ALIVE} AND s.id = ?`, values))[0];
  }

  /** Takes a login into the epoch that the transaction has begun; returns false if it ended after it was checked. */
  async keep(
    transaction: Transaction,
    userId: string,
    id: string,
    amr?: readonly AuthenticationMethod[],
  ): Promise<boolean> {
    const kept = await transaction.write(
      `UPDATE sessions SET auth_epoch = auth_epoch + 1, amr = COALESCE(?, amr)
        WHERE id = ? AND user_id = ? AND parent_id IS NULL AND revoked_at IS NULL
          AND auth_epoch + 1 = (SELECT auth_epoch FROM users WHERE id = ?)`,
      [amr === undefined ? null : storedMethods(amr), id, userId, userId],
    );
    return kept === 1;
  }

  findPageOf(userId: string, afterId: string, limit: number): Promise<HeldSession[]> {
    return this.sessions.query<HeldSession[]>(FIND_PAGE_OF, [userId, afterId, limit]);
  }

  /** Nobody can issue a code from the sessions found until COMMIT. */
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
