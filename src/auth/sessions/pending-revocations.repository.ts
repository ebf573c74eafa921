import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { isUniqueViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { PENDING_REVOCATIONS_KEY, PendingRevocation } from './pending-revocation.entity.js';

/** so many are taken up at once */
const BATCH = 10;

/** Remembers what is being ended: a process that dies meanwhile, or a database that fails, leaves none half done. */
@Injectable()
export class PendingRevocationsRepository {
  constructor(@InjectRepository(PendingRevocation) private readonly pending: Repository<PendingRevocation>) {}

  /** Does nothing where it is there already. */
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

  /** Those that began before, the oldest first. */
  findBefore(since: number): Promise<PendingRevocation[]> {
    return this.pending.find({ where: { since: LessThan(since) }, order: { since: 'ASC' }, take: BATCH });
  }
}
