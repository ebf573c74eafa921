import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Env } from '../../config/env.js';
import { isForeignKeyViolation, isUniqueViolation } from '../../database/database-errors.js';
import { BatchedQueries, forEachSize, padded } from '../../database/batched-queries.js';
import { Transactions } from '../../database/transactions.js';
import { IS_ALIVE, WITH_PARENT } from '../sessions/alive.js';
import { SESSIONS_CODE_HASH_KEY } from '../sessions/session.entity.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import { type OpenSession, SessionsService } from '../sessions/sessions.service.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AuthorizationCode } from './authorization-code.entity.js';
import { challengeOf, hashCode, isCode, newCode } from './code-text.js';
import { InvalidCodeError } from './codes.errors.js';

interface NewCode {
  hash: string;
  sessionId: string;
  createdAt: number;
  expiresAt: number;
}

/** Whom a code stands for. Neither ever changes. */
interface Issuer {
  userId: string;
  authTime: number;
}

/** The session that a code opened. */
interface Opened {
  id: string;
  userId: string;
  descendantsRevokedAt: number | null;
}

/** @param size how many codes one query asks for */
export const findIssuers = forEachSize(
  (size) => `SELECT c.hash, s.user_id AS userId, s.auth_time AS authTime
  FROM authorization_codes c JOIN sessions s ON s.id = c.session_id
  WHERE c.hash IN (${Array(size).fill('?').join(', ')})`,
);

/** @param size how many codes one query asks for */
export const findOpened = forEachSize(
  (size) => `SELECT code_hash AS hash, id, user_id AS userId, descendants_revoked_at AS descendantsRevokedAt
  FROM sessions WHERE code_hash IN (${Array(size).fill('?').join(', ')})`,
);

/** The session that a code opens, with every condition that there is. */
export const EXCHANGE = `SELECT ?, s.user_id, s.auth_time, ?, ?, s.id, c.hash
  FROM authorization_codes c JOIN sessions s ON s.id = c.session_id ${WITH_PARENT}
  WHERE c.hash = ? AND c.expires_at > ? AND ${IS_ALIVE}`;

@Injectable()
export class CodesService {
  private readonly logger = new Logger('AuthorizationCodes');
  private readonly inserts = new BatchedQueries((codes: NewCode[]) => this.insertAll(codes));
  private readonly issuers = new BatchedQueries((hashes: string[]) =>
    this.findAll<Issuer>(findIssuers, hashes),
  );
  private readonly opened = new BatchedQueries((hashes: string[]) =>
    this.findAll<Opened>(findOpened, hashes),
  );

  constructor(
    @InjectRepository(AuthorizationCode) private readonly codes: Repository<AuthorizationCode>,
    private readonly sessions: SessionsService,
    private readonly revocation: SessionRevocation,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /**
   * Issues a code of the caller's session; with a challenge only the holder of its verifier can use it.
   *
   * @throws InvalidTokenError when the session went away since the request began
   */
  async issue(sessionId: string, challenge?: string): Promise<string> {
    const code = newCode();
    const createdAt = Date.now();
    const expiresAt = createdAt + this.env.codeTtl * 1000;
    const row = { hash: hashCode(code, challenge), sessionId, createdAt, expiresAt };
    if (!(await this.inserts.run(row))) throw new InvalidTokenError();
    return code;
  }

  /**
   * Opens the session that a code stands for. A code that was used before ends the session that its first use
   * opened, with all that was derived from it: one of the two users of the code is not the right one (RFC 6749
   * section 4.1.2, ASVS 10.4.2).
   *
   * @throws InvalidCodeError
   */
  async exchange(code: string, codeVerifier?: string): Promise<OpenSession> {
    if (!isCode(code)) throw new InvalidCodeError();
    const hash = hashCode(code, codeVerifier === undefined ? undefined : challengeOf(codeVerifier));
    const issuer = await this.issuers.run(hash);
    const session = issuer && this.sessions.plan(issuer.userId, issuer.authTime);
    if (session && (await this.open(session, hash))) return session;
    await this.revokeWhatReuseExposed(hash);
    throw new InvalidCodeError();
  }

  private async open({ id, createdAt, expiresAt }: OpenSession, hash: string): Promise<boolean> {
    const now = Date.now();
    if (expiresAt <= now) return false;
    try {
      // One statement, so that nothing it asks can change meanwhile; the unique key makes it the only one.
      const opened = await this.transactions.statement(
        `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, parent_id, code_hash) ${EXCHANGE}`,
        [id, createdAt, expiresAt, hash, now],
      );
      return opened === 1;
    } catch (error) {
      if (isUniqueViolation(error, SESSIONS_CODE_HASH_KEY)) return false;
      throw error;
    }
  }

  /** Whether each was issued: one whose session is gone is not. */
  private async insertAll(codes: NewCode[]): Promise<boolean[]> {
    try {
      await this.transactions.statement(
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

  private async revokeWhatReuseExposed(hash: string): Promise<void> {
    const opened = await this.opened.run(hash);
    if (!opened) return;
    this.logger.warn({ msg: 'authorization code used again', sessionId: opened.id });
    if (opened.descendantsRevokedAt === null) await this.revocation.revoke(opened);
  }

  private async findAll<Row>(find: (size: number) => string, hashes: string[]): Promise<(Row | undefined)[]> {
    const values = padded(hashes, '');
    const rows = await this.codes.query<(Row & { hash: string })[]>(find(values.length), values);
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    return hashes.map((hash) => byHash.get(hash));
  }
}
