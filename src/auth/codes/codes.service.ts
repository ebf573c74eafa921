import { Injectable, Logger } from '@nestjs/common';
import type { Origin } from '../../access/actor.js';
import { Env } from '../../config/env.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import { type NewSession, newSession } from '../sessions/new-session.js';
import { SessionExchangesRepository } from '../sessions/session-exchanges.repository.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { challengeOf, hashCode, isCode, newCode } from './code-text.js';
import { InvalidCodeError } from './codes.errors.js';

@Injectable()
export class CodesService {
  private readonly logger = new Logger('AuthorizationCodes');

  constructor(
    private readonly codes: AuthorizationCodesRepository,
    private readonly sessions: SessionsRepository,
    private readonly exchanges: SessionExchangesRepository,
    private readonly revocation: SessionRevocation,
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
    const hash = hashCode(code, challenge);
    if (!(await this.codes.insert({ hash, sessionId, createdAt, expiresAt }))) throw new InvalidTokenError();
    return code;
  }

  /**
   * Opens the session that a code stands for. A code that was used before ends the session that its first use
   * opened, with all that was derived from it: one of the two users of the code is not the right one (RFC 6749
   * section 4.1.2, ASVS 10.4.2).
   *
   * @throws InvalidCodeError
   */
  async exchange(code: string, codeVerifier: string | undefined, origin: Origin): Promise<NewSession> {
    if (!isCode(code)) throw new InvalidCodeError();
    const hash = hashCode(code, codeVerifier === undefined ? undefined : challengeOf(codeVerifier));
    const owner = await this.codes.findOwner(hash);
    const session = owner && newSession(this.env, owner);
    const lives = session !== undefined && session.expiresAt > Date.now();
    if (lives && (await this.exchanges.insert(session, hash))) return session;
    await this.revokeWhatReuseExposed(hash, origin);
    throw new InvalidCodeError();
  }

  private async revokeWhatReuseExposed(hash: string, origin: Origin): Promise<void> {
    const opened = await this.sessions.findOpenedBy(hash);
    if (!opened) return;
    this.logger.warn({ msg: 'authorization code used again', sessionId: opened.id });
    if (opened.descendantsRevokedAt !== null) return;
    await this.revocation.revoke(opened, { actor: { kind: 'system', ...origin }, reason: 'code_reused' });
  }
}
