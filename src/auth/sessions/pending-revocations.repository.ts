import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThan, type Repository } from 'typeorm';
import { isUniqueViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { PENDING_REVOCATIONS_KEY, PendingRevocation } from './pending-revocation.entity.js';

const BATCH = 10;

@Injectable()
export class PendingRevocationsRepository {
  constructor(@InjectRepository(PendingRevocation) private readonly pending: Repository<PendingRevocation>) {}

  async insert(transaction: Transaction, sessionId: string, userId: string): Promise<void> {
    try {
      await transaction.of(this.pending).insert({ sessionId, userId, since: Date.now() });
    } catch (error) {
      if (!isUniqueViolation(error, PENDING_REVOCATIONS_KEY)) throw error;
    }
  }

  async delete(sessionId: string): Promise<void> {
    await this.pending.delete({ sessionId });
  }

  async deleteOfSessions(transaction: Transaction, sessionIds: readonly string[]): Promise<void> {
    await transaction.of(this.pending).delete({ sessionId: In(sessionIds) });
  }

  findBefore(since: number): Promise<PendingRevocation[]> {
    return this.pending.find({ where: { since: LessThan(since) }, order: { since: 'ASC' }, take: BATCH });
  }
}
