import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { BatchedQueries } from '../../database/batched-queries.js';
import { isUniqueViolation } from '../../database/database-errors.js';
import { hotStatement } from '../../database/hot-statements.js';
import { keyTable } from '../../database/lookup.js';
import { Transactions } from '../../database/transactions.js';
import { isVoid } from '../codes/authorization-codes.repository.js';
import { MAX_UNUSED_CODES } from '../codes/unused-codes-limit.js';
import { IS_UNREVOKED, JOIN_PARENT } from './alive.js';
import { Session, SESSIONS_CODE_HASH_KEY } from './session.entity.js';
import type { NewSession } from './new-session.js';

export interface Exchanger {
  service: string;
  /** epoch in which the credentials were found; null unless the code is for this service alone */
  boundEpoch: number | null;
}

interface Exchange {
  session: NewSession;
  codeHash: string;
  by: Exchanger | undefined;
}

const COLUMNS = 'id, created_at, expires_at, ip, user_agent, code_hash, service, bound_epoch';

/** This is one statement, so that nothing it checks can change before it inserts. */
// The user is not checked: the new session shares its parent's epoch, so it ends with it. The epoch of a service has to
// be the one that its credentials had: an operator who ends the sessions of a secret ends those that it is about to open, too.
const sessionsOf = (size: number): string =>
  `SELECT k.id, s.user_id, s.auth_time, s.auth_epoch, k.created_at, k.expires_at, k.ip, k.user_agent, s.id, c.hash,
    s.amr, k.service, k.bound_epoch
    FROM ${keyTable(`SELECT ${COLUMNS} FROM sessions`, 8, size)}
      JOIN authorization_codes c ON c.hash = k.code_hash JOIN sessions s ON s.id = c.session_id ${JOIN_PARENT}
      LEFT JOIN services v ON v.name = k.service AND v.epoch = k.bound_epoch AND v.disabled_at IS NULL
    WHERE c.expires_at > ? AND (k.bound_epoch IS NULL OR v.epoch IS NOT NULL) AND ${IS_UNREVOKED}
      AND NOT ${isVoid(MAX_UNUSED_CODES)}`;
hotStatement('the exchange of a code', sessionsOf(1), ['', 0, 0, '', '', '', '', 0, 0]);

@Injectable()
export class SessionExchangesRepository {
  private readonly exchanges = new BatchedQueries((exchanges: Exchange[]) => this.exchangeAll(exchanges));

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly transactions: Transactions,
  ) {}

  /** The unique key lets a code open one session. Concurrent calls share a statement. */
  insert(session: NewSession, codeHash: string, by?: Exchanger): Promise<boolean> {
    return this.exchanges.run({ session, codeHash, by });
  }

  private async exchangeAll(exchanges: Exchange[]): Promise<boolean[]> {
    try {
      const opened = await this.transactions.write(
        `INSERT INTO sessions (id, user_id, auth_time, auth_epoch, created_at, expires_at, ip, user_agent, parent_id,
           code_hash, amr, service, bound_epoch)
         ${sessionsOf(exchanges.length)}`,
        [...exchanges.flatMap(valuesOf), Date.now()],
      );
      if (opened === exchanges.length) return exchanges.map(() => true);
    } catch (error) {
      if (!isUniqueViolation(error, SESSIONS_CODE_HASH_KEY)) throw error;
      if (exchanges.length === 1) return [false];
      return (await Promise.all(exchanges.map((exchange) => this.exchangeAll([exchange])))).flat();
    }
    return this.findExisting(exchanges.map(({ session }) => session.id));
  }

  private async findExisting(ids: string[]): Promise<boolean[]> {
    const found = await this.sessions.find({ where: { id: In(ids) }, select: { id: true } });
    return ids.map((id) => found.some((session) => session.id === id));
  }
}

function valuesOf({ session, codeHash, by }: Exchange): unknown[] {
  const { id, createdAt, expiresAt, ip, userAgent } = session;
  return [id, createdAt, expiresAt, ip, userAgent, codeHash, by?.service ?? null, by?.boundEpoch ?? null];
}
