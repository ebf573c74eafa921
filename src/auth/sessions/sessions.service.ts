import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import type { Transaction } from '../../database/transaction.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import type { NewSession } from './new-session.js';
import { SessionExchangesRepository } from './session-exchanges.repository.js';
import { type OpenedSession, SessionsRepository } from './sessions.repository.js';

@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly exchanges: SessionExchangesRepository,
    private readonly env: Env,
  ) {}

  /**
   * A session that starts now, not stored yet. It lives as long as one token, and never longer after `authTime`
   * than SESSION_MAX_AGE: passing a login on does not extend it.
   */
  create(userId: string, authTime = Date.now()): NewSession {
    const createdAt = Date.now();
    const expiresAt = Math.min(
      createdAt + this.env.tokenTtl * 1000,
      authTime + this.env.sessionMaxAge * 1000,
    );
    return { id: newEntityId(), userId, authTime, createdAt, expiresAt };
  }

  insertIn(transaction: Transaction, session: NewSession): Promise<void> {
    return this.sessions.insertIn(transaction, session);
  }

  /** As `insertIn`, as a unit of work of its own. */
  insert(session: NewSession): Promise<void> {
    return this.sessions.insert(session);
  }

  /** Whether the code opened it: the code is good, was not used before, and the session would not be over already. */
  async insertByCode(session: NewSession, codeHash: string): Promise<boolean> {
    return session.expiresAt > Date.now() && this.exchanges.insert(session, codeHash);
  }

  findOpenedBy(codeHash: string): Promise<OpenedSession | undefined> {
    return this.sessions.findOpenedBy(codeHash);
  }
}
