import { Injectable, Logger } from '@nestjs/common';
import type { Origin, SignInOrigin } from '../../access/actor.js';
import { Env } from '../../config/env.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import type { NewSession } from '../sessions/new-session.js';
import { SessionOpening } from '../sessions/session-opening.service.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { challengeOf, hashCode, isCode, newCode } from './code-text.js';
import { InvalidCodeError } from './codes.errors.js';
import { UnusedCodesLimit } from './unused-codes-limit.js';

@Injectable()
export class CodesService {
  private readonly logger = new Logger('AuthorizationCodes');

  constructor(
    private readonly codes: AuthorizationCodesRepository,
    private readonly sessions: SessionsRepository,
    private readonly opening: SessionOpening,
    private readonly revocation: SessionRevocation,
    private readonly limit: UnusedCodesLimit,
    private readonly env: Env,
  ) {}

  /** @throws InvalidTokenError when the session was revoked or deleted after the request began */
  async issue(sessionId: string, challenge?: string): Promise<string> {
    const code = newCode();
    const now = Date.now();
    const createdAt = this.limit.noteIssued(sessionId, now);
    const expiresAt = now + this.env.codeTtl * 1000;
    const hash = hashCode(code, challenge);
    if (!(await this.codes.insert({ hash, sessionId, createdAt, expiresAt })))
      throw new InvalidTokenError('session_ended');
    return code;
  }

  /** Reuse of a code revokes the session it opened and all derived from it (RFC 6749 section 4.1.2, ASVS 10.4.2). */
  async exchange(code: string, codeVerifier: string | undefined, origin: SignInOrigin): Promise<NewSession> {
    if (!isCode(code)) throw new InvalidCodeError('malformed');
    const hash = hashCode(code, codeVerifier === undefined ? undefined : challengeOf(codeVerifier));
    const owner = await this.codes.findOwner(hash);
    const session = owner && (await this.opening.derive(hash, owner, origin));
    if (session) return session;
    const isReused = await this.revokeReusedSession(hash, origin);
    throw new InvalidCodeError(isReused ? 'reused' : owner ? 'ended' : 'unknown');
  }

  private async revokeReusedSession(hash: string, origin: Origin): Promise<boolean> {
    const opened = await this.sessions.findOpenedBy(hash);
    if (!opened) return false;
    this.logger.warn({ msg: 'authorization code reused', sessionId: opened.id });
    if (opened.descendantsRevokedAt === null) {
      await this.revocation.revoke(opened, { actor: { kind: 'system', ...origin }, reason: 'code_reused' });
    }
    return true;
  }
}
