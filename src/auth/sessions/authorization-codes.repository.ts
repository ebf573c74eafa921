import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { isForeignKeyViolation } from '../../database/transactions/database-errors.js';
import { BATCH, inBatches, padded, placeholders } from '../../database/statements.js';
import { SharedStatement } from '../../database/shared-statement.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import type { User } from '../../users/user.entity.js';
import { HAS_ACTIVE_USER } from './alive.js';
import { AuthorizationCode, type Session } from './session.entity.js';

/** The session that issued the code; `loginId` and `branchId` are those of the session that the code opens. */
export type CodeOwner = Pick<
  Session,
  'userId' | 'authTime' | 'authEpoch' | 'amr' | 'endsAt' | 'loginId' | 'branchId'
> &
  Pick<User, 'emailVerifiedAt'>;

type OwnedCode = CodeOwner & { hash: string };

const PAGE = 1000;

type IssuedCode = Pick<AuthorizationCode, 'hash' | 'createdAt'> & { usedAt: number | null };

/** per session: the next code voids the oldest */
export const MAX_UNUSED_CODES = 10;

// Code `c` is void if ten newer codes were unused when the session issued its last code, even if used since.
// The hash decides between codes of one millisecond.
export const IS_VOID = `(SELECT n.hash
    FROM authorization_codes n LEFT JOIN sessions x ON x.code_hash = n.hash
    WHERE n.session_id = c.session_id AND n.created_at >= c.created_at
      AND (n.created_at > c.created_at OR n.hash > c.hash)
      AND (x.id IS NULL OR x.created_at >=
        (SELECT MAX(l.created_at) FROM authorization_codes l WHERE l.session_id = c.session_id))
    LIMIT 1 OFFSET ${MAX_UNUSED_CODES - 1}) IS NOT NULL`;

@Injectable()
export class AuthorizationCodesRepository {
  private readonly owners = new SharedStatement((hashes: string[]) => this.findOwners(hashes));
  private readonly inserts = new SharedStatement((codes: AuthorizationCode[]) => this.insertAll(codes));

  constructor(@InjectRepository(AuthorizationCode) private readonly codes: Repository<AuthorizationCode>) {}

  /** Returns false if the session has ended. Concurrent calls share a statement. */
  insert(code: AuthorizationCode): Promise<boolean> {
    return this.inserts.run(code);
  }

  findOwner(hash: string): Promise<CodeOwner | undefined> {
    return this.owners.run(hash);
  }

  async findExpired(before: number): Promise<string[]> {
    const sql = `SELECT hash FROM authorization_codes WHERE expires_at < ? ORDER BY expires_at LIMIT ${BATCH}`;
    const rows = await this.codes.query<{ hash: string }[]>(sql, [before]);
    return rows.map(({ hash }) => hash);
  }

  async delete(hashes: readonly string[]): Promise<void> {
    await this.codes.delete({ hash: In(hashes) });
  }

  async deleteUnneeded(sessionId: string): Promise<void> {
    const sql = `SELECT c.hash, c.created_at AS createdAt, x.created_at AS usedAt
      FROM authorization_codes c LEFT JOIN sessions x ON x.code_hash = c.hash
      WHERE c.session_id = ? ORDER BY c.created_at DESC, c.hash DESC LIMIT ${PAGE}`;
    for (;;) {
      const codes = await this.codes.query<IssuedCode[]>(sql, [sessionId]);
      const last = codes[0]?.createdAt ?? 0;
      const counted = codes.filter(({ usedAt }) => usedAt === null || usedAt >= last);
      const kept = new Set(counted.slice(0, MAX_UNUSED_CODES).map(({ hash }) => hash));
      const unneeded = codes.map(({ hash }) => hash).filter((hash) => !kept.has(hash));
      for await (const batch of inBatches(unneeded)) await this.delete(batch);
      if (codes.length < PAGE) return;
    }
  }

  async deleteIssuedBy(sessionIds: readonly string[]): Promise<void> {
    await this.codes.delete({ sessionId: In(sessionIds) });
  }

  async deleteOfSessions(tx: Transaction, sessionIds: readonly string[]): Promise<void> {
    const sql = `DELETE FROM authorization_codes WHERE session_id IN (${placeholders(sessionIds.length)})`;
    await tx.write(sql, [...sessionIds]);
  }

  private async findOwners(hashes: string[]): Promise<(OwnedCode | undefined)[]> {
    const asked = padded(hashes, '');
    const rows = await this.codes.query<OwnedCode[]>(
      `SELECT c.hash, s.user_id AS userId, s.auth_time AS authTime, s.auth_epoch AS authEpoch, s.amr, s.ends_at AS endsAt,
          COALESCE(s.login_id, s.id) AS loginId, s.branch_id AS branchId, u.email_verified_at AS emailVerifiedAt
        FROM authorization_codes c JOIN sessions s ON s.id = c.session_id JOIN users u ON u.id = s.user_id
        WHERE c.hash IN (${placeholders(asked.length)}) AND ${HAS_ACTIVE_USER}`,
      asked,
    );
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    return hashes.map((hash) => byHash.get(hash));
  }

  private async insertAll(codes: AuthorizationCode[]): Promise<boolean[]> {
    try {
      // Hot: TypeORM takes longer to build this statement than the database to run it.
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
