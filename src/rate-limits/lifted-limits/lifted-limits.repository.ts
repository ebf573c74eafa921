import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { NOW_MS } from '../../database/clock.js';
import { hotStatement } from '../../database/hot-statements.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { LiftedLimit } from './lifted-limit.entity.js';

export type RecentLift = LiftedLimit & { agoMs: number };

const FIND_RECENT = hotStatement(
  'the limits of logins that were lifted',
  `SELECT lift_key AS liftKey, lifted_at AS liftedAt, ${NOW_MS} - lifted_at AS agoMs FROM lifted_limits
    WHERE lifted_at > ${NOW_MS} - ?`,
  [0],
);

@Injectable()
export class LiftedLimitsRepository {
  constructor(@InjectRepository(LiftedLimit) private readonly lifted: Repository<LiftedLimit>) {}

  async put(transaction: Transaction, liftKey: string): Promise<void> {
    await transaction.write(`REPLACE INTO lifted_limits (lift_key, lifted_at) VALUES (?, ${NOW_MS})`, [
      liftKey,
    ]);
  }

  findRecent(maxAgeMs: number): Promise<RecentLift[]> {
    return this.lifted.query(FIND_RECENT, [maxAgeMs]);
  }

  async findOld(ageMs: number, limit: number): Promise<string[]> {
    const found = await this.lifted.query<LiftedLimit[]>(
      `SELECT lift_key AS liftKey FROM lifted_limits WHERE lifted_at <= ${NOW_MS} - ? ORDER BY lifted_at LIMIT ?`,
      [ageMs, limit],
    );
    return found.map(({ liftKey }) => liftKey);
  }

  async delete(liftKeys: readonly string[]): Promise<void> {
    await this.lifted.delete({ liftKey: In([...liftKeys]) });
  }
}
