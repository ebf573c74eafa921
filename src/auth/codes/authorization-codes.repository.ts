import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import { hotStatement } from '../../database/hot-statements.js';
import { BatchedQueries } from '../../database/batched-queries.js';
import { byColumn, Lookup, lookupStatement, places } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { HAS_ACTIVE_USER } from '../sessions/alive.js';
import { BATCH } from '../cleanup/batch.js';
import { AuthorizationCode } from './authorization-code.entity.js';

export interface CodeOwner {
  userId: string;
  authTime: number;
  authEpoch: number;
}

type OwnedCode = CodeOwner & { hash: string };

const FIND_OWNERS = lookupStatement<string, OwnedCode>('the look-up of a code', {
  sql: (size) => `SELECT c.hash, s.user_id AS userId, s.auth_time AS authTime, s.auth_epoch AS authEpoch
    FROM authorization_codes c JOIN sessions s ON s.id = c.session_id JOIN users u ON u.id = s.user_id
    WHERE c.hash IN (${places(size)}) AND ${HAS_ACTIVE_USER}`,
  ...byColumn('hash'),
});

const FIND_EXPIRED = hotStatement(
  'the clean-up of codes',
  `SELECT hash FROM authorization_codes WHERE expires_at < ? ORDER BY expires_at LIMIT ${BATCH}`,
  [0],
);

@Injectable()
export class AuthorizationCodesRepository {
  private readonly owners: Lookup<string, OwnedCode>;
  private readonly inserts = new BatchedQueries((codes: AuthorizationCode[]) => this.insertAll(codes));

  constructor(@InjectRepository(AuthorizationCode) private readonly codes: Repository<AuthorizationCode>) {
    this.owners = new Lookup(FIND_OWNERS, codes);
  }

  /** False if its session has ended. Concurrent calls share a statement. */
  insert(code: AuthorizationCode): Promise<boolean> {
    return this.inserts.run(code);
  }

  findOwner(hash: string): Promise<CodeOwner | undefined> {
    return this.owners.find(hash);
  }

  async findExpired(before: number): Promise<string[]> {
    const rows = await this.codes.query<{ hash: string }[]>(FIND_EXPIRED, [before]);
    return rows.map(({ hash }) => hash);
  }

  async delete(hashes: readonly string[]): Promise<void> {
    await this.codes.delete({ hash: In(hashes) });
  }

  async deleteOfSessions(transaction: Transaction, sessionIds: readonly string[]): Promise<void> {
    await transaction.write(
      `DELETE FROM authorization_codes WHERE session_id IN (${places(sessionIds.length)})`,
      [...sessionIds],
    );
  }

  private async insertAll(codes: AuthorizationCode[]): Promise<boolean[]> {
    try {
      // Measured hot: TypeORM takes longer to build this statement than the database to run it.
      await this.codes.query(
        `INSERT INTO authorization_codes (hash, session_id, created_at, expires_at)
         VALUES ${codes.map(() => '(?, ?, ?, ?)').join(', ')}`,
        codes.flatMap(({ hash, sessionId, createdAt, expiresAt }) => [hash, sessionId, createdAt, expiresAt]),
      );
      return codes.map(() => true);
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      if (codes.length === 1) return [false];
      return (await Promise.all(codes.map((code) => this.insertAll([code])))).flat();
    }
  }
}
