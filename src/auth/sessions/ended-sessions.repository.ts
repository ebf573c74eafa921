import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { hotStatement } from '../../database/hot-statements.js';
import { BATCH, padded, places } from '../../database/batches.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { Session } from './session.entity.js';

export type RemovableSession = Pick<Session, 'id' | 'loginId' | 'branchId'>;

export type ExpiredSession = RemovableSession & Pick<Session, 'expiresAt'>;

export type EndedSession = RemovableSession & Pick<Session, 'codeHash'>;

/** The plain range on `expires_at` makes the engines use the index. */
const FIND_EXPIRED = hotStatement(
  'the clean-up of sessions',
  `SELECT id, login_id AS loginId, branch_id AS branchId, expires_at AS expiresAt FROM sessions
    WHERE expires_at <= ? AND (expires_at < ? OR id < ?) ORDER BY expires_at DESC, id DESC LIMIT ${BATCH}`,
  [0, 0, ''],
);

/** The newest first, so that delegated sessions mostly come before their logins and heads. */
const FIND_ENDED = hotStatement(
  'the ended sessions of a user',
  `SELECT s.id, s.login_id AS loginId, s.branch_id AS branchId, s.code_hash AS codeHash
    FROM users u JOIN sessions s ON s.user_id = u.id
    WHERE u.id = ? AND s.auth_epoch <= u.auth_epoch
      AND (s.auth_epoch < u.auth_epoch OR s.revoked_at > 0 OR s.expires_at < ?) AND s.created_at < ?
    ORDER BY s.auth_epoch DESC, s.revoked_at DESC, s.expires_at DESC LIMIT ?`,
  ['', 0, 0, 1],
);

const FIND_SOME_OF = hotStatement(
  'the sessions of a user who is deleted',
  'SELECT id FROM sessions WHERE user_id = ? LIMIT ?',
  ['', 1],
);

// References within the batch do not count. The code that opened a session must be gone, or it could open another.
// MariaDB reads the whole table for EXISTS if the sessions of a batch are of one login.
const findNamed = (size: number): string => `SELECT s.id FROM sessions s WHERE s.id IN (${places(size)})
  AND ((SELECT d.id FROM sessions d WHERE d.login_id = s.id AND d.id NOT IN (${places(size)})
      ORDER BY d.login_id, d.id LIMIT 1) IS NOT NULL
    OR (SELECT b.id FROM sessions b WHERE b.branch_id = s.id AND b.id NOT IN (${places(size)})
      ORDER BY b.branch_id, b.id LIMIT 1) IS NOT NULL
    OR (SELECT c.hash FROM authorization_codes c WHERE c.session_id = s.id LIMIT 1) IS NOT NULL
    OR (SELECT o.hash FROM authorization_codes o WHERE o.hash = s.code_hash LIMIT 1) IS NOT NULL)`;
hotStatement('the search for what names a session', findNamed(2), ['', '', '', '', '', '']);

/** Finds and deletes sessions that have ended or expired. */
@Injectable()
export class EndedSessionsRepository {
  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  findExpired(expiresAt: number, beforeId: string): Promise<ExpiredSession[]> {
    return this.sessions.query<ExpiredSession[]>(FIND_EXPIRED, [expiresAt, expiresAt, beforeId]);
  }

  findEnded(userId: string, createdBefore: number, limit: number): Promise<EndedSession[]> {
    const expiredBefore = Date.now() - LEEWAY_SECONDS * 1000;
    return this.sessions.query<EndedSession[]>(FIND_ENDED, [userId, expiredBefore, createdBefore, limit]);
  }

  /** Finds sessions that a code, or a session that is not among them, still names. */
  async findNamed(ids: readonly string[]): Promise<string[]> {
    const asked = padded(ids, '');
    const rows = await this.sessions.query<{ id: string }[]>(findNamed(asked.length), [
      ...asked,
      ...asked,
      ...asked,
    ]);
    return rows.map(({ id }) => id);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.sessions.delete([...ids]);
  }

  /** No code can be issued from the sessions found until COMMIT. */
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
