import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { MAX_ROWS_AT_ONCE } from '../../database/in-batches.js';
import type { Transaction } from '../../database/transaction.js';
import { AuthorizationCodesRepository } from '../codes/authorization-codes.repository.js';
import { PendingRevocationsRepository } from './pending-revocations.repository.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

/** Deletes the sessions of a user with all that refers to them, and leaves nothing to cascades: Galera does not certify those. */
@Injectable()
export class SessionDeletion {
  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly pending: PendingRevocationsRepository,
  ) {}

  /** The transaction has written the user's row, so that no session can be added. */
  async deleteAllOf(transaction: Transaction, userId: string): Promise<void> {
    for (;;) {
      const ids = await this.sessions.findSomeOf(transaction, userId, MAX_ROWS_AT_ONCE);
      if (ids.length === 0) return;
      await this.codes.deleteOfSessions(transaction, ids);
      await this.pending.deleteOfSessions(transaction, ids);
      await this.sessions.deleteIn(transaction, ids);
      if (ids.length < MAX_ROWS_AT_ONCE) return;
      await yieldToEventLoop();
    }
  }
}
