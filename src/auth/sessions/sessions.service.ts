import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { Transactions } from '../../database/transactions.js';
import type { Transaction } from '../../database/transaction.js';
import { newEntityId } from '../../identifiers/entity-id.js';

/** A session as tokens are made from it. Times are epoch milliseconds. */
export interface OpenSession {
  id: string;
  userId: string;
  authTime: number;
  createdAt: number;
  expiresAt: number;
}

const INSERT_SESSION =
  'INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at) VALUES (?, ?, ?, ?, ?)';

/** Plans sessions, and opens those of logins. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /**
   * Plans a session that starts now. It lives as long as one token, and never longer after `authTime` than
   * SESSION_MAX_AGE: passing a login on does not extend it.
   */
  plan(userId: string, authTime = Date.now()): OpenSession {
    const createdAt = Date.now();
    const expiresAt = Math.min(
      createdAt + this.env.tokenTtl * 1000,
      authTime + this.env.sessionMaxAge * 1000,
    );
    return { id: newEntityId(), userId, authTime, createdAt, expiresAt };
  }

  async save(transaction: Transaction, session: OpenSession): Promise<void> {
    await transaction.write(INSERT_SESSION, rowOf(session));
  }

  /** As `save`, as a unit of work of its own. */
  async open(session: OpenSession): Promise<void> {
    await this.transactions.statement(INSERT_SESSION, rowOf(session));
  }
}

function rowOf({ id, userId, authTime, createdAt, expiresAt }: OpenSession): unknown[] {
  return [id, userId, authTime, createdAt, expiresAt];
}
