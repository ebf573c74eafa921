import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Entity, PrimaryColumn, type Repository } from 'typeorm';
import { BATCH, type Batch, deleteFound } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transactions.js';

/** An email under which an operator acted. Few events have one, so that `events` needs no index of emails. */
@Entity('operator_emails')
export class OperatorEmail {
  @PrimaryColumn({ type: 'varchar', length: 254 }) email: string;
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 }) userId: string;
}

@Injectable()
export class OperatorEmailsRepository {
  constructor(@InjectRepository(OperatorEmail) private readonly emails: Repository<OperatorEmail>) {}

  async insert(tx: Transaction, email: OperatorEmail): Promise<void> {
    await tx.of(this.emails).createQueryBuilder().insert().values(email).orIgnore().execute();
  }

  /** Like the audit log, a row outlives the user, until no event by the user is left. */
  async deleteUnused(): Promise<Batch> {
    const sql = `SELECT email, user_id AS userId FROM operator_emails o
      WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.actor_id = o.user_id) LIMIT ?`;
    const unused = await this.emails.query<OperatorEmail[]>(sql, [BATCH]);
    return deleteFound(unused, async (rows) => {
      for (const { email, userId } of rows) await this.emails.delete({ email, userId });
    });
  }
}
