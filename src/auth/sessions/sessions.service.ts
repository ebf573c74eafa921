import { Injectable, Logger } from '@nestjs/common';
import type { Origin, UserActor, UserPrincipal } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { Transactions } from '../../database/transactions/transactions.js';
import {
  type RefreshableTokens,
  type RefreshToken,
  RefreshTokens,
  TokenIssuer,
} from '../tokens/token-issuer.js';
import { UnauthorizedError } from '../tokens/tokens.errors.js';
import { type RevocableSession, SessionRevocation } from './session-revocation.js';
import { UserSessionsRepository } from './sessions.of-user.js';
import { type RefreshedSession, SessionsRepository } from './sessions.repository.js';
import { Problem } from '../../problems/problem.js';

/** Only logged. A token is newer than its session if an older state of the database was restored since. */
type RefreshRefusal = 'forged' | 'session_ended' | 'reused' | 'newer_than_session';

class InvalidRefreshTokenError extends Problem {
  constructor(reason: RefreshRefusal) {
    super('invalid_refresh_token', { headers: { 'WWW-Authenticate': 'Bearer' }, reason });
  }
}

interface Logout {
  caller: UserPrincipal | undefined;
  refreshToken: string | undefined;
}

@Injectable()
export class SessionsService {
  private readonly logger = new Logger('RefreshTokens');

  constructor(
    private readonly refreshTokens: RefreshTokens,
    private readonly sessions: SessionsRepository,
    private readonly ofUsers: UserSessionsRepository,
    private readonly tokens: TokenIssuer,
    private readonly revocation: SessionRevocation,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /**
   * Reusing a refresh token ends the session (RFC 9700 section 4.14.2), except within a grace period: the answer may
   * have been lost.
   */
  async refresh(text: string, origin: Origin): Promise<RefreshableTokens> {
    const shown = await this.refreshTokens.read(text);
    if (!shown) throw new InvalidRefreshTokenError('forged');
    const now = Date.now();
    const maxAge = this.env.sessionMaxAge * 1000;
    const idleEnd = now + this.env.sessionIdle * 1000;
    const { rotated, stored } = await this.transactions.run(
      { principal: origin.address, row: shown.sessionId },
      async (transaction) => ({
        rotated: await this.sessions.rotate(transaction, { ...shown, now, idleEnd, maxAge }),
        stored: await this.sessions.findRefreshed(shown.sessionId, transaction),
      }),
    );
    if (!stored || Math.min(stored.expiresAt, stored.authTime + maxAge) <= now) {
      throw new InvalidRefreshTokenError('session_ended');
    }
    if (rotated || this.isInGrace(shown, stored)) return this.tokens.issueRefreshable(stored, now);
    throw new InvalidRefreshTokenError(await this.refuse(shown, stored, origin));
  }

  async logOut({ caller, refreshToken }: Logout, origin: Origin): Promise<void> {
    const session = refreshToken === undefined ? ofCaller(caller) : await this.ofRefreshToken(refreshToken);
    if (!session) return;
    const { id, userId } = session;
    const actor = { kind: 'user', id: userId, sessionId: id, isDelegated: false, ...origin } as const;
    await this.revocation.revoke({ id, userId }, { actor, reason: 'logout' });
  }

  async end(actor: UserActor, id: string): Promise<void> {
    const session = await this.ofUsers.findAlive(actor.id, id);
    if (!session) throw new Problem('session_not_found');
    await this.revocation.revoke(session, { actor, reason: 'revoked' });
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
      const actor = { kind: 'system', ...origin } as const;
      await this.revocation.revoke(stored, { actor, reason: 'refresh_reused' });
      return 'reused';
    }
    // The generation is the same, so the session ended between the two statements.
    if (shown.generation === refreshGeneration) return 'session_ended';
    this.logger.error({ msg: 'refresh token newer than its session: were old data restored?', sessionId });
    return 'newer_than_session';
  }

  /** Accepts any generation: a client that holds a token may at least end its session. */
  private async ofRefreshToken(text: string): Promise<RevocableSession | undefined> {
    const shown = await this.refreshTokens.read(text);
    if (!shown) throw new InvalidRefreshTokenError('forged');
    return this.sessions.findRefreshed(shown.sessionId);
  }
}

function ofCaller(caller: UserPrincipal | undefined): RevocableSession {
  if (!caller) throw new UnauthorizedError();
  return { id: caller.sessionId, userId: caller.id };
}
