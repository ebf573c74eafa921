import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Env } from '../../config/env.js';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import { BatchedQueries, forEachSize, padded } from '../../database/batched-queries.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { type OpenSession, SessionsService } from '../sessions/sessions.service.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AuthorizationCode } from './authorization-code.entity.js';
import { challengeOf, hashCode, newCode } from './code-text.js';
import { InvalidCodeError } from './codes.errors.js';

interface NewCode {
  hash: string;
  sessionId: string;
  challenge: string | null;
  createdAt: number;
  expiresAt: number;
}

/** Whom a code stands for. Neither ever changes. */
interface Issuer {
  userId: string;
  authTime: number;
}

/** @param size how many codes one query asks for */
export const findIssuers = forEachSize(
  (size) => `SELECT c.hash, s.user_id AS userId, s.auth_time AS authTime
  FROM authorization_codes c JOIN sessions s ON s.id = c.session_id
  WHERE c.hash IN (${Array(size).fill('?').join(', ')})`,
);

@Injectable()
export class CodesService {
  private readonly logger = new Logger('AuthorizationCodes');
  private readonly inserts = new BatchedQueries((codes: NewCode[]) => this.insertAll(codes));
  private readonly issuers = new BatchedQueries((hashes: string[]) => this.findAllIssuers(hashes));

  constructor(
    @InjectRepository(AuthorizationCode) private readonly codes: Repository<AuthorizationCode>,
    private readonly sessions: SessionsService,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /**
   * Issues a code of the caller's session; with a challenge only the holder of its verifier can use it.
   *
   * @throws InvalidTokenError when the session went away since the request began
   */
  async issue(sessionId: string, challenge: string | null = null): Promise<string> {
    const code = newCode();
    const createdAt = Date.now();
    const expiresAt = createdAt + this.env.codeTtl * 1000;
    const row = { hash: hashCode(code), sessionId, challenge, createdAt, expiresAt };
    if (!(await this.inserts.run(row))) throw new InvalidTokenError();
    return code;
  }

  /**
   * Consumes a code and opens the session that it stands for. A code that was used before also ends the
   * session that its first use opened: one of the two users of the code is not the right one (RFC 6749
   * section 4.1.2, ASVS 10.4.2).
   *
   * @throws InvalidCodeError
   */
  async exchange(code: string, codeVerifier?: string): Promise<OpenSession> {
    const hash = hashCode(code);
    const challenge = codeVerifier === undefined ? null : challengeOf(codeVerifier);
    const issuer = await this.issuers.run(hash);
    if (!issuer) throw new InvalidCodeError();

    const session = this.sessions.plan(issuer.userId, issuer.authTime);
    if (await this.transactions.run((transaction) => this.consume(transaction, hash, challenge, session)))
      return session;
    await this.revokeWhatReuseExposed(hash, challenge);
    throw new InvalidCodeError();
  }

  /**
   * Of any number of simultaneous calls exactly one changes the row: the UPDATE is the decision, also on
   * whether the session that issued the code still lives.
   */
  private async consume(
    transaction: Transaction,
    hash: string,
    challenge: string | null,
    session: OpenSession,
  ): Promise<boolean> {
    const now = Date.now();
    if (session.expiresAt <= now) return false;
    const consumed = await transaction.write(
      `UPDATE authorization_codes SET consumed_at = ?, granted_session_id = ?, purge_at = ?
        WHERE hash = ? AND consumed_at IS NULL AND expires_at > ? AND ${matches(challenge)}
          AND EXISTS (SELECT 1 FROM sessions s
                       WHERE s.id = authorization_codes.session_id AND s.revoked_at IS NULL)`,
      [now, session.id, session.expiresAt, hash, now, ...valuesOf(challenge)],
    );
    if (consumed === 0) return false;
    await this.sessions.save(transaction, session);
    return true;
  }

  /** Whether each was issued: one whose session is gone is not. */
  private async insertAll(codes: NewCode[]): Promise<boolean[]> {
    try {
      await this.transactions.statement(
        `INSERT INTO authorization_codes (hash, session_id, code_challenge, created_at, expires_at, purge_at)
         VALUES ${codes.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
        codes.flatMap(rowOf),
      );
      return codes.map(() => true);
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      if (codes.length === 1) return [false];
      return (await Promise.all(codes.map((code) => this.insertAll([code])))).flat();
    }
  }

  private async findAllIssuers(hashes: string[]): Promise<(Issuer | undefined)[]> {
    const values = padded(hashes, '');
    const rows = await this.codes.query<(Issuer & { hash: string })[]>(findIssuers(values.length), values);
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    return hashes.map((hash) => byHash.get(hash));
  }

  private async revokeWhatReuseExposed(hash: string, challenge: string | null): Promise<void> {
    const rows = await this.codes.query<{ grantedSessionId: string }[]>(
      `SELECT granted_session_id AS grantedSessionId FROM authorization_codes
        WHERE hash = ? AND consumed_at IS NOT NULL AND ${matches(challenge)}`,
      [hash, ...valuesOf(challenge)],
    );
    if (!rows[0]) return;
    await this.sessions.revoke(rows[0].grantedSessionId);
    this.logger.warn({ msg: 'authorization code used again', sessionId: rows[0].grantedSessionId });
  }
}

/** A code that was issued with a challenge needs its verifier, and one without refuses any (RFC 9700 4.8.2). */
function matches(challenge: string | null): string {
  return challenge === null ? 'code_challenge IS NULL' : 'code_challenge = ?';
}

function valuesOf(challenge: string | null): string[] {
  return challenge === null ? [] : [challenge];
}

function rowOf({ hash, sessionId, challenge, createdAt, expiresAt }: NewCode): unknown[] {
  return [hash, sessionId, challenge, createdAt, expiresAt, expiresAt];
}
