import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { NOW_MS, padded } from '../../database/statements.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import { HAS_ACTIVE_USER, IS_ALIVE, JOIN_USER_FAMILY_AND_SERVICE } from './alive.js';
import type { RefreshState } from './refresh-rules.js';
import type { RefreshToken } from '../tokens/token-issuer.js';
import { Session } from './session.entity.js';

export type RefreshedSession = RefreshState &
  Pick<Session, 'id' | 'userId' | 'authTime' | 'authEpoch' | 'amr' | 'expiresAt' | 'endsAt'>;

const FIND = `SELECT s.id, s.user_id AS userId, s.auth_time AS authTime, s.auth_epoch AS authEpoch, s.amr,
    s.expires_at AS expiresAt, s.ends_at AS endsAt, s.refresh_generation AS refreshGeneration, s.reissues,
    s.seen_generation AS seenGeneration, ${NOW_MS} - s.rotated_at AS rotatedForMs
  FROM sessions s ${JOIN_USER_FAMILY_AND_SERVICE} WHERE s.id = ? AND ${IS_ALIVE}`;

// MySQL cannot join the table that it updates, so the user is a subquery, and only logins are refreshed.
const ROTATE = `UPDATE sessions AS s SET refresh_generation = ?, reissues = ?, expires_at = ?, rotated_at = ${NOW_MS}
  WHERE id = ? AND refresh_generation = ? AND reissues = ? AND seen_generation = ? AND auth_epoch = ?
    AND s.login_id IS NULL AND s.revoked_at IS NULL
    AND EXISTS (SELECT 1 FROM users u WHERE u.id = s.user_id AND ${HAS_ACTIVE_USER})`;

const MARK_USED = `UPDATE sessions SET seen_generation = refresh_generation, rotated_at = ${NOW_MS}
  WHERE seen_generation < refresh_generation`;
const IS_GENERATION = '(id = ? AND refresh_generation = ?)';

@Injectable()
export class SessionRefreshRepository {
  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly transactions: Transactions,
  ) {}

  async find(sessionId: string, tx?: Transaction): Promise<RefreshedSession | undefined> {
    const [found] = tx
      ? await tx.read<RefreshedSession>(FIND, [sessionId])
      : await this.sessions.query<RefreshedSession[]>(FIND, [sessionId]);
    return found;
  }

  /**
   * Returns false if the session is no longer as it was read. Galera loses updates between a read and a write, so the
   * comparison decides, and not the read.
   */
  async rotate(
    tx: Transaction,
    read: RefreshedSession,
    next: Pick<RefreshedSession, 'refreshGeneration' | 'reissues' | 'expiresAt'>,
  ): Promise<boolean> {
    const values = [next.refreshGeneration, next.reissues, next.expiresAt];
    const { id, refreshGeneration, reissues, seenGeneration, authEpoch } = read;
    const compared = [id, refreshGeneration, reissues, seenGeneration, authEpoch];
    return (await tx.write(ROTATE, [...values, ...compared])) === 1;
  }

  /** Without the generations, a late mark could mark a successor whose answer was lost. */
  async markUsed(used: readonly RefreshToken[]): Promise<void[]> {
    const asked = padded(used, { sessionId: '', generation: 0 });
    const sql = `${MARK_USED} AND (${asked.map(() => IS_GENERATION).join(' OR ')})`;
    await this.transactions.write(
      sql,
      asked.flatMap(({ sessionId, generation }) => [sessionId, generation]),
    );
    return used.map(() => undefined);
  }
}
