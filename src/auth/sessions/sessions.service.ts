import { Injectable, Logger } from '@nestjs/common';
import type { Origin, UserActor, UserPrincipal } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { type RefreshableTokens, type RefreshToken, TokenIssuer } from '../tokens/token-issuer.js';
import { UnauthorizedError } from '../tokens/access-token.js';
import { SessionRevocation } from './session-revocation.js';
import { UserSessionsRepository } from './sessions.of-user.js';
import { type RefreshedSession, SessionsRepository } from './sessions.repository.js';
import { Problem } from '../../problems/problem.js';

class InvalidRefreshTokenError extends Problem {
  constructor(reason: 'forged' | 'session_ended' | 'reused' | 'newer_than_session') {
    super('invalid_refresh_token', { headers: { 'WWW-Authenticate': 'Bearer' }, reason });
  }
}

@Injectable()
export class SessionsService {
  private readonly logger = new Logger('RefreshTokens');

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly ofUsers: UserSessionsRepository,
    private readonly tokens: TokenIssuer,
    private readonly revocation: SessionRevocation,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  // Reuse ends the session (RFC 9700 section 4.14.2), except in a grace period: the client may have lost the response.
  async refresh(text: string, origin: Origin): Promise<RefreshableTokens> {
    const shown = await this.tokens.readRefreshToken(text);
    if (!shown) throw new InvalidRefreshTokenError('forged');
    const now = Date.now();
    const maxAge = this.env.sessionMaxAge * 1000;
    const idleEnd = now + this.env.sessionIdle * 1000;
    const { rotated, stored } = await this.transactions.run(
      { principal: origin.address, row: shown.sessionId },
      async (tx) => ({
        rotated: await this.sessions.rotate(tx, shown, { now, idleEnd, maxAge }),
        stored: await this.sessions.findRefreshed(shown.sessionId, tx),
      }),
    );
    if (!stored || Math.min(stored.expiresAt, stored.authTime + maxAge) <= now) {
      throw new InvalidRefreshTokenError('session_ended');
    }
    if (rotated || this.isInGrace(shown, stored)) return this.tokens.issueRefreshable(stored, now);
    return this.refuse(shown, stored, origin);
  }

  async logOut(
    caller: UserPrincipal | undefined,
    refreshToken: string | undefined,
    origin: Origin,
  ): Promise<void> {
    const session = refreshToken === undefined ? ofCaller(caller) : await this.ofRefreshToken(refreshToken);
    if (!session) return;
    const { id, userId } = session;
    const actor = { kind: 'user', id: userId, sessionId: id, isDelegated: false, ...origin } as const;
    await this.revocation.revoke(id, { actor, reason: 'logout' });
  }

  async end(actor: UserActor, id: string): Promise<void> {
    if (!(await this.ofUsers.findAlive(actor.id, id))) throw new Problem('session_not_found');
    await this.revocation.revoke(id, { actor, reason: 'revoked' });
  }

  /** A clock that was set back makes the time negative. */
  private isInGrace({ generation }: RefreshToken, stored: RefreshedSession): boolean {
    if (generation !== stored.refreshGeneration - 1 || stored.rotatedForMs === null) return false;
    return Math.abs(stored.rotatedForMs) < this.env.refreshGrace * 1000;
  }

  private async refuse(shown: RefreshToken, stored: RefreshedSession, origin: Origin): Promise<never> {
    const { id: sessionId, refreshGeneration } = stored;
    if (shown.generation < refreshGeneration) {
      this.logger.warn({ msg: 'refresh token reused', sessionId });
      const actor = { kind: 'system', ...origin } as const;
      await this.revocation.revoke(sessionId, { actor, reason: 'refresh_reused' });
      throw new InvalidRefreshTokenError('reused');
    }
    // The session ended between the two statements.
    if (shown.generation === refreshGeneration) throw new InvalidRefreshTokenError('session_ended');
    this.logger.error({ msg: 'refresh token newer than its session: were old data restored?', sessionId });
    throw new InvalidRefreshTokenError('newer_than_session');
  }

  /** Accepts any generation: a client with any token of the session may end it. */
  private async ofRefreshToken(text: string): Promise<RefreshedSession | undefined> {
    const shown = await this.tokens.readRefreshToken(text);
    if (!shown) throw new InvalidRefreshTokenError('forged');
    return this.sessions.findRefreshed(shown.sessionId);
  }
}

function ofCaller(caller: UserPrincipal | undefined): Pick<RefreshedSession, 'id' | 'userId'> {
  if (!caller) throw new UnauthorizedError();
  return { id: caller.sessionId, userId: caller.id };
}
