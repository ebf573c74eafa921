import { Injectable, Logger } from '@nestjs/common';
import type { Origin } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { SessionRevocation } from './session-revocation.js';
import { type RefreshedSession, SessionsRepository } from './sessions.repository.js';
import { InvalidRefreshTokenError, type RefreshRefusal } from './sessions.errors.js';
import { type RefreshableTokens, type RefreshToken, RefreshTokens, SessionTokens } from './session-tokens.js';

/** Rotates refresh tokens; their reuse ends the session (RFC 9700 section 4.14.2). */
@Injectable()
export class RefreshService {
  private readonly logger = new Logger('RefreshTokens');

  constructor(
    private readonly refreshTokens: RefreshTokens,
    private readonly sessions: SessionsRepository,
    private readonly tokens: SessionTokens,
    private readonly revocation: SessionRevocation,
    private readonly env: Env,
  ) {}

  /** The previous token stays valid for a short time: its answer may have been lost, or another window used it. */
  async refresh(text: string, origin: Origin): Promise<RefreshableTokens> {
    const shown = await this.refreshTokens.read(text);
    if (!shown) throw new InvalidRefreshTokenError('forged');
    const now = Date.now();
    const maxAge = this.env.sessionMaxAge * 1000;
    const idleEnd = now + this.env.sessionIdle * 1000;
    const rotated = await this.sessions.rotate({ ...shown, now, idleEnd, maxAge });
    const stored = await this.sessions.findRefreshed(shown.sessionId);
    if (!stored || Math.min(stored.expiresAt, stored.authTime + maxAge) <= now) {
      throw new InvalidRefreshTokenError('session_ended');
    }
    if (rotated || this.isInGrace(shown, stored)) return this.tokens.refreshable(stored, now);
    throw new InvalidRefreshTokenError(await this.refuse(shown, stored, origin));
  }

  /** A clock that was set back makes the time negative; neither extends the grace. */
  private isInGrace(
    { generation }: RefreshToken,
    { refreshGeneration, rotatedForMs }: RefreshedSession,
  ): boolean {
    if (generation !== refreshGeneration - 1 || rotatedForMs === null) return false;
    return Math.abs(rotatedForMs) < this.env.refreshGrace * 1000;
  }

  private async refuse(
    shown: RefreshToken,
    stored: RefreshedSession,
    origin: Origin,
  ): Promise<RefreshRefusal> {
    const { id: sessionId, refreshGeneration } = stored;
    if (shown.generation < refreshGeneration) {
      this.logger.warn({ msg: 'refresh token reused', sessionId });
      await this.revocation.revoke(stored, {
        actor: { kind: 'system', ...origin },
        reason: 'refresh_reused',
      });
      return 'reused';
    }
    // The generation is the same, so the session ended between the two statements.
    if (shown.generation === refreshGeneration) return 'session_ended';
    this.logger.error({ msg: 'refresh token newer than its session: were old data restored?', sessionId });
    return 'newer_than_session';
  }
}
