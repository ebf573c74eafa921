import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { AuthenticationMethod } from '../../access/principal.js';
import { NOW_MS } from '../../database/clock.js';
import { byColumn, Lookup, lookupStatement, places } from '../../database/lookup.js';
import { Transactions } from '../../database/transactions.js';
import { methodsIn } from './authentication-methods.js';
import { HAS_ACTIVE_USER, IS_ALIVE, JOIN_USER_PARENT_AND_SERVICE } from './alive.js';
import { Session } from './session.entity.js';

export type RefreshedSession = Pick<
  Session,
  'id' | 'userId' | 'authTime' | 'authEpoch' | 'expiresAt' | 'refreshGeneration'
> & {
  amr: readonly AuthenticationMethod[];
  /** by the clock of the database, like `rotated_at` itself; null before the first refresh */
  rotatedForMs: number | null;
};

type StoredSession = Omit<RefreshedSession, 'amr'> & Pick<Session, 'amr'>;

/** Times are epoch milliseconds; `maxAge` is the time from the login to its latest end. */
export interface Rotation {
  sessionId: string;
  generation: number;
  now: number;
  idleEnd: number;
  maxAge: number;
}

/** Replaces IS_ALIVE for a login, which has no parent: MySQL reads no table that it updates. */
const IS_LIVE_LOGIN = `s.parent_id IS NULL AND s.revoked_at IS NULL
  AND EXISTS (SELECT 1 FROM users u WHERE u.id = s.user_id AND ${HAS_ACTIVE_USER})`;

/** This is one statement, so that of any number of refreshes one takes the step. */
const ROTATE = `UPDATE sessions AS s SET refresh_generation = refresh_generation + 1, rotated_at = ${NOW_MS},
    expires_at = CASE WHEN auth_time + ? < ? THEN auth_time + ? ELSE ? END
  WHERE id = ? AND refresh_generation = ? AND expires_at > ? AND auth_time + ? > ? AND ${IS_LIVE_LOGIN}`;

const FIND_REFRESHED = lookupStatement<string, StoredSession>('the look-up of a refreshed session', {
  sql: (size) => `SELECT s.id, s.user_id AS userId, s.auth_time AS authTime, s.expires_at AS expiresAt,
      s.refresh_generation AS refreshGeneration, ${NOW_MS} - s.rotated_at AS rotatedForMs,
      s.auth_epoch AS authEpoch, s.amr
    FROM sessions s ${JOIN_USER_PARENT_AND_SERVICE} WHERE s.id IN (${places(size)}) AND ${IS_ALIVE}`,
  ...byColumn('id'),
});

@Injectable()
export class SessionRefreshesRepository {
  private readonly refreshed: Lookup<string, StoredSession>;

  constructor(
    @InjectRepository(Session) sessions: Repository<Session>,
    private readonly transactions: Transactions,
  ) {
    this.refreshed = new Lookup(FIND_REFRESHED, sessions);
  }

  async rotate({ sessionId, generation, now, idleEnd, maxAge }: Rotation): Promise<boolean> {
    const values = [maxAge, idleEnd, maxAge, idleEnd, sessionId, generation, now, maxAge, now];
    return (await this.transactions.write(ROTATE, values)) === 1;
  }

  /** Finds a session that is alive, whether or not it has expired. */
  async find(sessionId: string): Promise<RefreshedSession | undefined> {
    const found = await this.refreshed.find(sessionId);
    return found && { ...found, amr: methodsIn(found.amr) };
  }
}
