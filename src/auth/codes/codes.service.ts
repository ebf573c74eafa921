import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { Env } from '../../config/env.js';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import { affectedRows, forUpdate } from '../../database/statements.js';
import { Transactions } from '../../database/transactions.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import { type OpenSession, SessionsService } from '../sessions/sessions.service.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AuthorizationCode } from './authorization-code.entity.js';
import { challengeOf, hashCode, newCode } from './code-text.js';
import { InvalidCodeError } from './codes.errors.js';

@Injectable()
export class CodesService {
  private readonly logger = new Logger('AuthorizationCodes');

  constructor(
    @InjectRepository(AuthorizationCode) private readonly codes: Repository<AuthorizationCode>,
    private readonly sessions: SessionsService,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** Issues a code of the caller's session; with a challenge only the holder of its verifier can use it. */
  async issue(sessionId: string, codeChallenge?: string): Promise<string> {
    const code = newCode();
    const now = Date.now();
    const expiresAt = now + this.env.codeTtl * 1000;
    try {
      await this.transactions.statement(
        `INSERT INTO authorization_codes (hash, session_id, code_challenge, created_at, expires_at, purge_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        [hashCode(code), sessionId, codeChallenge ?? null, now, expiresAt, expiresAt],
      );
    } catch (error) {
      // The session was there when the request began: its user was deleted since.
      throw isForeignKeyViolation(error) ? new InvalidTokenError() : error;
    }
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
    const session = await this.transactions.run((manager) => this.consume(manager, hash, challenge));
    if (session) return session;

    await this.revokeWhatReuseExposed(hash, challenge);
    throw new InvalidCodeError();
  }

  /** Of any number of simultaneous calls exactly one changes the row: the UPDATE is the decision. */
  private async consume(
    manager: EntityManager,
    hash: string,
    challenge: string | null,
  ): Promise<OpenSession | undefined> {
    const now = Date.now();
    const sessionId = newEntityId();
    const consumed = await affectedRows(
      manager,
      `UPDATE authorization_codes SET consumed_at = ?, granted_session_id = ?, purge_at = ?
        WHERE hash = ? AND consumed_at IS NULL AND expires_at > ? AND ${matches(challenge)}`,
      [now, sessionId, now + this.env.tokenTtl * 1000, hash, now, ...valuesOf(challenge)],
    );
    if (consumed === 0) return undefined;

    const issuer = await this.findIssuer(manager, hash);
    if (!issuer) throw new InvalidCodeError();
    const session = this.sessions.plan(issuer.userId, issuer.authTime, sessionId);
    if (session.expiresAt <= now) throw new InvalidCodeError();
    await this.sessions.save(manager, session);
    return session;
  }

  /** Locked until COMMIT, so that the issuing session cannot be revoked between this look and the answer. */
  private async findIssuer(manager: EntityManager, hash: string): Promise<Issuer | undefined> {
    const rows = await manager.query<Issuer[]>(
      `SELECT s.user_id AS userId, s.auth_time AS authTime
         FROM authorization_codes c JOIN sessions s ON s.id = c.session_id
        WHERE c.hash = ? AND s.revoked_at IS NULL${forUpdate(manager)}`,
      [hash],
    );
    return rows[0];
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

interface Issuer {
  userId: string;
  authTime: number;
}

/** A code that was issued with a challenge needs its verifier, and one without refuses any (RFC 9700 4.8.2). */
function matches(challenge: string | null): string {
  return challenge === null ? 'code_challenge IS NULL' : 'code_challenge = ?';
}

function valuesOf(challenge: string | null): string[] {
  return challenge === null ? [] : [challenge];
}
