import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Transactions } from '../../database/transactions.js';
import { AuthorizationCode } from '../codes/authorization-code.entity.js';
import { BATCH, type Batch } from './batch.js';

export const EXPIRED_CODES = `SELECT hash FROM authorization_codes
  WHERE expires_at < ? ORDER BY expires_at LIMIT ${BATCH}`;

/** Codes that nobody can exchange any more: that one was used is known by the session that it opened. */
@Injectable()
export class ExpiredCodes {
  constructor(
    @InjectRepository(AuthorizationCode) private readonly codes: Repository<AuthorizationCode>,
    private readonly transactions: Transactions,
  ) {}

  async deleteBatch(before: number): Promise<Batch> {
    const rows = await this.codes.query<{ hash: string }[]>(EXPIRED_CODES, [before]);
    if (rows.length > 0) {
      await this.transactions.statement(
        `DELETE FROM authorization_codes WHERE hash IN (${rows.map(() => '?').join(', ')})`,
        rows.map(({ hash }) => hash),
      );
    }
    return { examined: rows.length, deleted: rows.length };
  }
}
