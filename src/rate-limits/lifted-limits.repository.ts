import { Column, Entity, In, Index, PrimaryColumn, type Repository } from 'typeorm';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { NOW_MS } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transactions.js';

/** The login limits of an email do not count requests that were admitted before `liftedAt`. */
@Entity('lifted_limits')
@Index('lifted_limits_lifted_at_idx', ['liftedAt'])
export class LiftedLimit {
  @PrimaryColumn({ name: 'lift_key', type: 'varchar', length: 22 })
  liftKey: string;

  /** epoch milliseconds of the database's clock */
  @Column({ name: 'lifted_at', type: 'bigint' })
  liftedAt: number;
}

@Injectable()
export class LiftedLimitsRepository {
  constructor(@InjectRepository(LiftedLimit) private readonly lifted: Repository<LiftedLimit>) {}

  async put(tx: Transaction, liftKey: string): Promise<void> {
    const sql = `REPLACE INTO lifted_limits (lift_key, lifted_at) VALUES (?, ${NOW_MS})`;
    await tx.write(sql, [liftKey]);
  }

  findRecent(maxAgeMs: number): Promise<(LiftedLimit & { agoMs: number })[]> {
    const sql = `SELECT lift_key AS liftKey, lifted_at AS liftedAt, ${NOW_MS} - lifted_at AS agoMs
      FROM lifted_limits WHERE lifted_at > ${NOW_MS} - ?`;
    return this.lifted.query(sql, [maxAgeMs]);
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
