import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { isUniqueViolation } from '../../database/database-errors.js';
import { Transactions } from '../../database/transactions.js';
import { PENDING_REVOCATIONS_KEY, PendingRevocation } from './pending-revocation.entity.js';

/** so many are taken up at once */
const BATCH = 10;

/** Remembers what is being ended, so that a process that dies meanwhile, or a database that fails, leaves none half done. */
@Injectable()
export class PendingRevocations {
  constructor(
    @InjectRepository(PendingRevocation) private readonly pending: Repository<PendingRevocation>,
    private readonly transactions: Transactions,
  ) {}

  async add(sessionId: string, userId: string): Promise<void> {
    try {
      await this.transactions.statement(
        'INSERT INTO pending_revocations (session_id, user_id, since) VALUES (?, ?, ?)',
        [sessionId, userId, Date.now()],
      );
    } catch (error) {
      if (!isUniqueViolation(error, PENDING_REVOCATIONS_KEY)) throw error;
    }
  }

  async remove(sessionId: string): Promise<void> {
    await this.transactions.statement('DELETE FROM pending_revocations WHERE session_id = ?', [sessionId]);
  }

  /** Those that began before, the oldest first. */
  findBefore(since: number): Promise<PendingRevocation[]> {
    return this.pending.query<PendingRevocation[]>(
      `SELECT session_id AS sessionId, user_id AS userId, since FROM pending_revocations
       WHERE since < ? ORDER BY since LIMIT ${BATCH}`,
      [since],
    );
  }
}
