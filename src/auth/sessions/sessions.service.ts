import { Injectable, Logger } from '@nestjs/common';
import type { Origin, UserActor, UserPrincipal } from '../../access/principal.js';
import { boundToken } from '../../access/route-access.js';
import { Env } from '../../config/env.js';
import { LostConflictError } from '../../database/transactions/database-errors.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import { type RefreshOutcome, refreshed } from '../../telemetry/metrics/measurements.js';
import type { HasLeft } from '../../http/deadline.js';
import { ClientLeftError } from '../../http/read-gate.js';
import { type RefreshableTokens, type RefreshToken, TokenIssuer } from '../tokens/token-issuer.js';
import { UnauthorizedError } from '../tokens/access-token.js';
import { decideRefresh, type RefreshDecision } from './refresh-rules.js';
import { endOfLogin } from './session.entity.js';
import { SessionRevocation } from './session-revocation.js';
import { UserSessionsRepository } from './sessions.of-user.js';
import { type RefreshedSession, SessionRefreshRepository } from './sessions.refresh.js';
import { Problem } from '../../problems/problem.js';

class InvalidRefreshTokenError extends Problem {
  constructor(reason: 'forged' | 'session_ended' | 'reused' | 'newer_than_session') {
    super('invalid_refresh_token', { headers: { 'WWW-Authenticate': 'Bearer' }, reason });
  }
}

type AttemptedRefresh =
  | { kind: RefreshDecision['kind']; session: RefreshedSession }
  | { kind: 'ended' }
  | { kind: 'changed' };

const COUNTED_AS: Record<RefreshDecision['kind'] | 'ended', RefreshOutcome> = {
  rotate: 'rotated',
  reissue: 'reissued',
  repeat: 'repeated',
  reused: 'reused',
  newer: 'newer',
  ended: 'ended',
};

const MAX_ATTEMPTS = 5;

@Injectable()
export class SessionsService {
  private readonly logger = new Logger('RefreshTokens');

  constructor(
    private readonly refreshes: SessionRefreshRepository,
    private readonly ofUsers: UserSessionsRepository,
    private readonly tokens: TokenIssuer,
    private readonly revocation: SessionRevocation,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  async refresh(text: string, origin: Origin, hasLeft: HasLeft): Promise<RefreshableTokens> {
    const shown = await this.tokens.readRefreshToken(text);
    if (!shown) {
      refreshed.emit({ outcome: 'forged' });
      throw new InvalidRefreshTokenError('forged');
    }
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const now = Date.now();
      const turn = { principal: origin.address, row: shown.sessionId };
      const outcome = await this.transactions.run(turn, (tx) => this.attempt(tx, shown, now, hasLeft));
      if (outcome.kind === 'changed') continue;
      if (outcome.kind === 'reused' && (await hasLeft())) throw new ClientLeftError();
      refreshed.emit({ outcome: COUNTED_AS[outcome.kind] });
      if (outcome.kind === 'ended') throw new InvalidRefreshTokenError('session_ended');
      const { kind, session } = outcome;
      if (kind === 'newer') return this.refuseNewer(session);
      if (kind === 'reused') return this.refuseReused(session, origin);
      if (kind === 'reissue') {
        const msg = 'refresh token accepted again: its successor was never used';
        this.logger.log({ msg, sessionId: session.id });
      }
      return this.tokens.issueRefreshable(session, now);
    }
    throw new LostConflictError('another refresh won each time');
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

  /** A frozen instance that wakes with an old request must not act for a client that has refreshed elsewhere. */
  private async attempt(
    tx: Transaction,
    { sessionId, generation }: RefreshToken,
    now: number,
    hasLeft: HasLeft,
  ): Promise<AttemptedRefresh> {
    const session = await this.refreshes.find(sessionId, tx);
    if (!session) return { kind: 'ended' };
    const end = endOfLogin(session, this.env.sessionMaxAge);
    if (Math.min(session.expiresAt, end) <= now) return { kind: 'ended' };
    const decision = decideRefresh(session, generation, this.env.refreshGrace * 1000);
    if (!('refreshGeneration' in decision)) return { kind: decision.kind, session };

    const { kind, ...numbers } = decision;
    const expiresAt = Math.min(now + this.env.sessionIdle * 1000, end);
    const next = { ...session, ...numbers, expiresAt };
    if (await hasLeft()) throw new ClientLeftError();
    return (await this.refreshes.rotate(tx, session, next)) ? { kind, session: next } : { kind: 'changed' };
  }

  private async refuseReused({ id: sessionId }: RefreshedSession, origin: Origin): Promise<never> {
    this.logger.warn({ msg: 'refresh token reused', sessionId });
    const actor = { kind: 'system', ...origin } as const;
    await this.revocation.revoke(sessionId, { actor, reason: 'refresh_reused' });
    throw new InvalidRefreshTokenError('reused');
  }

  private refuseNewer({ id: sessionId }: RefreshedSession): never {
    this.logger.error({ msg: 'refresh token newer than its session: were old data restored?', sessionId });
    throw new InvalidRefreshTokenError('newer_than_session');
  }

  /** Accepts any generation: a client with any token of the session may end it. */
  private async ofRefreshToken(text: string): Promise<RefreshedSession | undefined> {
    const shown = await this.tokens.readRefreshToken(text);
    if (!shown) throw new InvalidRefreshTokenError('forged');
    return this.refreshes.find(shown.sessionId);
  }
}

function ofCaller(caller: UserPrincipal | undefined): Pick<RefreshedSession, 'id' | 'userId'> {
  if (!caller) throw new UnauthorizedError();
  // A service that is called ends nothing.
  if (caller.via.length > 0) throw boundToken();
  return { id: caller.sessionId, userId: caller.id };
}
