import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { BATCH, idsOf, padded, placeholders } from '../../database/statements.js';
import { timeText } from '../../identifiers/text.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { LEEWAY_SECONDS, type MethodsByWay } from '../tokens/access-token.js';
import { IS_ALIVE, JOIN_FAMILY_AND_SERVICE } from './alive.js';
import { Session } from './session.entity.js';

export type OwnSession = Omit<
  Session,
  | 'authTime'
  | 'authEpoch'
  | 'amr'
  | 'revokedAt'
  | 'refreshGeneration'
  | 'reissues'
  | 'seenGeneration'
  | 'codeHash'
  | 'exchangeKey'
  | 'boundEpoch'
  | 'endsAt'
>;

export interface HeldSession extends OwnSession, Pick<Session, 'authTime' | 'authEpoch' | 'revokedAt'> {
  isOfEndedEpoch: 0 | 1;
}

export interface FamilyRoot {
  id: string;
  userId: string;
  isLogin: boolean;
}

export type UnrevokedSession = Pick<Session, 'id' | 'authEpoch' | 'expiresAt'>;

export type EndedSession = Pick<Session, 'id' | 'loginId' | 'branchId' | 'codeHash' | 'expiresAt'>;

const ENDED_COLUMNS = `s.id, s.login_id AS loginId, s.branch_id AS branchId, s.code_hash AS codeHash,
  s.expires_at AS expiresAt`;

const OWN_COLUMNS = `s.id, s.user_id AS userId, s.login_id AS loginId, s.branch_id AS branchId,
  s.created_at AS createdAt, s.rotated_at AS rotatedAt, s.expires_at AS expiresAt, s.ip, s.user_agent AS userAgent,
  s.device_name AS deviceName, s.service, s.provider`;

/** Users may have fewer delegated sessions, which leaves room for logins. */
const MAX_LISTED = 2000;

/** With its index, the search reads no session that is expired, revoked or of an old epoch. */
const ALIVE_OF_USER = `FROM users u JOIN sessions s ON s.user_id = u.id ${JOIN_FAMILY_AND_SERVICE}
  WHERE u.id = ? AND s.expires_at > ? AND ${IS_ALIVE}`;

const FIND_ALIVE = `SELECT ${OWN_COLUMNS} ${ALIVE_OF_USER}`;

/** Revoke a head only when no session of its branch is alive. */
const IS_NO_HEAD_OF_OTHERS = `(s.branch_id <> s.id OR NOT EXISTS (SELECT 1 FROM sessions m
  WHERE m.branch_id = s.id AND m.id <> s.id AND m.revoked_at IS NULL AND m.expires_at > ?))`;

const PAGE = 500;

@Injectable()
export class UserSessionsRepository {
  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  async countAlive(userId: string, now: number): Promise<number> {
    const sql = `SELECT COUNT(*) AS alive ${ALIVE_OF_USER}`;
    const [row] = await this.sessions.query<{ alive: number }[]>(sql, [userId, now]);
    return row!.alive;
  }

  async hasMoreThan(userId: string, count: number): Promise<boolean> {
    const sql = 'SELECT id FROM sessions WHERE user_id = ? LIMIT 1 OFFSET ?';
    return (await this.sessions.query<unknown[]>(sql, [userId, count])).length > 0;
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

  findPageOf(userId: string, afterId: string, limit: number): Promise<HeldSession[]> {
    const sql = `SELECT ${OWN_COLUMNS}, s.auth_time AS authTime, s.auth_epoch AS authEpoch,
        s.revoked_at AS revokedAt, s.auth_epoch < u.auth_epoch AS isOfEndedEpoch
      FROM users u JOIN sessions s ON s.user_id = u.id WHERE u.id = ? AND s.id > ? ORDER BY s.id LIMIT ?`;
    return this.sessions.query<HeldSession[]>(sql, [userId, afterId, limit]);
  }

  async findSignedInAfter(userId: string, now: number, limit: number): Promise<string[]> {
    const sql = `SELECT u.id FROM users u WHERE u.id > ? AND EXISTS (SELECT 1 FROM sessions s
      WHERE s.user_id = u.id AND s.auth_epoch = u.auth_epoch AND s.revoked_at IS NULL AND s.expires_at > ?)
      ORDER BY u.id LIMIT ?`;
    return idsOf(await this.sessions.query(sql, [userId, now, limit]));
  }

  /** @param amr if the second factor was added or removed */
  async keep(tx: Transaction, userId: string, id: string, amr?: MethodsByWay): Promise<boolean> {
    const sql = `UPDATE sessions
      SET auth_epoch = auth_epoch + 1, amr = COALESCE(CASE WHEN amr LIKE 'fed%' THEN ? ELSE ? END, amr)
      WHERE id = ? AND user_id = ? AND login_id IS NULL AND revoked_at IS NULL
        AND auth_epoch + 1 = (SELECT auth_epoch FROM users WHERE id = ?)`;
    return (await tx.write(sql, [amr?.fed ?? null, amr?.pwd ?? null, id, userId, userId])) === 1;
  }

  async findRoot(id: string): Promise<FamilyRoot | undefined> {
    const select = { userId: true, branchId: true } as const;
    const session = await this.sessions.findOne({ where: { id }, select });
    if (!session) return undefined;
    const { userId, branchId } = session;
    return { id: branchId ?? id, userId, isLogin: branchId === null };
  }

  async findUnrevokedOf({ id, isLogin }: FamilyRoot, after: string): Promise<string[]> {
    const column = isLogin ? 'login_id' : 'branch_id';
    const sql = `SELECT id FROM sessions WHERE ${column} = ? AND id > ? AND revoked_at IS NULL
      ORDER BY ${column}, id LIMIT ${PAGE}`;
    return idsOf(await this.sessions.query(sql, [id, after]));
  }

  /** No other transaction revokes the sessions found until COMMIT. */
  lockUnrevoked(tx: Transaction, ids: readonly string[]): Promise<UnrevokedSession[]> {
    const asked = padded(ids, '');
    const sql = `SELECT id, auth_epoch AS authEpoch, expires_at AS expiresAt
      FROM sessions WHERE id IN (${placeholders(asked.length)}) AND revoked_at IS NULL${tx.forUpdate}`;
    return tx.read(sql, asked);
  }

  async revoke(tx: Transaction, ids: readonly string[]): Promise<void> {
    const sql = `UPDATE sessions SET revoked_at = ? WHERE id IN (${placeholders(ids.length)})`;
    await tx.write(sql, [Date.now(), ...ids]);
  }

  findExpired(expiresAt: number, beforeId: string): Promise<EndedSession[]> {
    // The plain range on `expires_at` makes the engines use the index.
    const sql = `SELECT ${ENDED_COLUMNS} FROM sessions s
      WHERE s.expires_at <= ? AND (s.expires_at < ? OR s.id < ?) ORDER BY s.expires_at DESC, s.id DESC LIMIT ${BATCH}`;
    return this.sessions.query<EndedSession[]>(sql, [expiresAt, expiresAt, beforeId]);
  }

  findEnded(userId: string, createdBefore: number, limit: number): Promise<EndedSession[]> {
    const expiredBefore = Date.now() - LEEWAY_SECONDS * 1000;
    const sql = `SELECT ${ENDED_COLUMNS} FROM users u JOIN sessions s ON s.user_id = u.id
      WHERE u.id = ? AND s.auth_epoch <= u.auth_epoch
        AND (s.auth_epoch < u.auth_epoch OR s.revoked_at > 0 OR s.expires_at < ?) AND s.created_at < ?
      ORDER BY s.auth_epoch DESC, s.revoked_at DESC, s.expires_at DESC LIMIT ?`;
    return this.sessions.query<EndedSession[]>(sql, [userId, expiredBefore, createdBefore, limit]);
  }

  async findNamed(ids: readonly string[]): Promise<string[]> {
    const asked = padded(ids, '');
    const given = placeholders(asked.length);
    // References within the batch do not count. For EXISTS, MariaDB reads the whole table if all sessions are of one login.
    const sql = `SELECT s.id FROM sessions s WHERE s.id IN (${given})
      AND ((SELECT d.id FROM sessions d WHERE d.login_id = s.id AND d.id NOT IN (${given})
          ORDER BY d.login_id, d.id LIMIT 1) IS NOT NULL
        OR (SELECT b.id FROM sessions b WHERE b.branch_id = s.id AND b.id NOT IN (${given})
          ORDER BY b.branch_id, b.id LIMIT 1) IS NOT NULL
        OR (SELECT c.hash FROM authorization_codes c WHERE c.session_id = s.id LIMIT 1) IS NOT NULL
        OR (SELECT o.hash FROM authorization_codes o WHERE o.hash = s.code_hash LIMIT 1) IS NOT NULL)`;
    return idsOf(await this.sessions.query(sql, [...asked, ...asked, ...asked]));
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.sessions.delete([...ids]);
  }

  /** No code can be issued from the sessions found until COMMIT. */
  async findSomeOf(tx: Transaction, userId: string, limit: number): Promise<string[]> {
    const sql = `SELECT id FROM sessions WHERE user_id = ? LIMIT ?${tx.forUpdate}`;
    return idsOf(await tx.read(sql, [userId, limit]));
  }

  async deleteIn(tx: Transaction, ids: readonly string[]): Promise<void> {
    await tx.write(`DELETE FROM sessions WHERE id IN (${placeholders(ids.length)})`, [...ids]);
  }
}

export function sessionView(session: OwnSession) {
  const { id, loginId, createdAt, rotatedAt, expiresAt, ip, userAgent, deviceName, service } = session;
  return {
    id,
    via: loginId === null ? ('password' as const) : ('code' as const),
    createdAt: timeText(createdAt),
    lastUsedAt: timeText(rotatedAt ?? createdAt),
    expiresAt: timeText(expiresAt),
    ip,
    userAgent,
    deviceName,
    service,
  };
}

export function sessionWithLogin(session: OwnSession) {
  const { loginId, provider } = session;
  const by = provider === null ? ('password' as const) : ('provider' as const);
  return { ...sessionView(session), login: loginId === null ? { by, provider } : null };
}
