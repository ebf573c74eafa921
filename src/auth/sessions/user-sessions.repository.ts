import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { AuthenticationMethod } from '../../access/principal.js';
import { hotStatement } from '../../database/hot-statements.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { IS_ALIVE, JOIN_FAMILY_AND_SERVICE, storedMethods } from './alive.js';
import { Session } from './session.entity.js';

export interface HeldSession extends Pick<
  Session,
  | 'id'
  | 'loginId'
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

export type OwnSession = Pick<
  Session,
  | 'id'
  | 'userId'
  | 'loginId'
  | 'branchId'
  | 'createdAt'
  | 'rotatedAt'
  | 'expiresAt'
  | 'ip'
  | 'userAgent'
  | 'deviceName'
  | 'service'
>;

const FIND_PAGE_OF = `SELECT s.id, s.login_id AS loginId, s.auth_time AS authTime, s.auth_epoch AS authEpoch,
      s.created_at AS createdAt, s.rotated_at AS rotatedAt, s.expires_at AS expiresAt, s.revoked_at AS revokedAt,
      s.ip, s.user_agent AS userAgent, s.device_name AS deviceName, s.auth_epoch < u.auth_epoch AS isOfEndedEpoch
    FROM users u JOIN sessions s ON s.user_id = u.id WHERE u.id = ? AND s.id > ? ORDER BY s.id LIMIT ?`;

/** Users may have fewer delegated sessions, which leaves room for logins. */
const MAX_LISTED = 2000;

/** The index used leads to no session that has expired, was revoked or is of an epoch that has ended. */
const ALIVE_OF_USER = `FROM users u JOIN sessions s ON s.user_id = u.id ${JOIN_FAMILY_AND_SERVICE}
  WHERE u.id = ? AND s.expires_at > ? AND ${IS_ALIVE}`;

/** Callers may add an order: MariaDB sorts what it reads by the index above, which is no more than the limit. */
const FIND_ALIVE = hotStatement(
  'the live sessions of a user',
  `SELECT s.id, s.user_id AS userId, s.login_id AS loginId, s.branch_id AS branchId, s.created_at AS createdAt,
    s.rotated_at AS rotatedAt, s.expires_at AS expiresAt, s.ip, s.user_agent AS userAgent,
    s.device_name AS deviceName, s.service ${ALIVE_OF_USER}`,
  ['', 0],
);

const COUNT_ALIVE = hotStatement('the count of live sessions', `SELECT COUNT(*) AS alive ${ALIVE_OF_USER}`, [
  '',
  0,
]);

/** A head only goes when no session of its branch is alive. */
const IS_NO_HEAD_OF_OTHERS = `(s.branch_id <> s.id OR NOT EXISTS (SELECT 1 FROM sessions m
  WHERE m.branch_id = s.id AND m.id <> s.id AND m.revoked_at IS NULL AND m.expires_at > ?))`;

const FIND_AT = hotStatement(
  'whether a user has many sessions',
  'SELECT id FROM sessions WHERE user_id = ? LIMIT 1 OFFSET ?',
  ['', 1],
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

  findOldestDelegated(userId: string, limit: number): Promise<OwnSession[]> {
    const sql = `${FIND_ALIVE} AND s.login_id IS NOT NULL AND ${IS_NO_HEAD_OF_OTHERS} ORDER BY s.id LIMIT ?`;
    const now = Date.now();
    return this.sessions.query<OwnSession[]>(sql, [userId, now, now, limit]);
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
        WHERE id = ? AND user_id = ? AND login_id IS NULL AND revoked_at IS NULL
          AND auth_epoch + 1 = (SELECT auth_epoch FROM users WHERE id = ?)`,
      [amr === undefined ? null : storedMethods(amr), id, userId, userId],
    );
    return kept === 1;
  }

  findPageOf(userId: string, afterId: string, limit: number): Promise<HeldSession[]> {
    return this.sessions.query<HeldSession[]>(FIND_PAGE_OF, [userId, afterId, limit]);
  }

  /** Pages by id through users who have a session that may be alive. */
  async findSignedInAfter(userId: string, now: number, limit: number): Promise<string[]> {
    const rows = await this.sessions.query<{ id: string }[]>(
      `SELECT u.id FROM users u WHERE u.id > ? AND EXISTS (SELECT 1 FROM sessions s
        WHERE s.user_id = u.id AND s.auth_epoch = u.auth_epoch AND s.revoked_at IS NULL AND s.expires_at > ?)
        ORDER BY u.id LIMIT ?`,
      [userId, now, limit],
    );
    return rows.map(({ id }) => id);
  }
}
