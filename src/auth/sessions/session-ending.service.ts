import { Injectable } from '@nestjs/common';
import type { Origin, UserActor, UserPrincipal } from '../../access/principal.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { allSessionsEnded } from '../../users/user-events.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { InvalidTokenError, UnauthorizedError } from '../tokens/tokens.errors.js';
import type { RevocableSession } from './session.entity.js';
import { SessionOpening } from './session-opening.service.js';
import { SessionRevocation } from './session-revocation.js';
import { RefreshTokens } from './session-tokens.js';
import { EndedSessions } from './sessions-clean-up.js';
import { InvalidRefreshTokenError, SessionNotFoundError } from './sessions.errors.js';
import { SessionsRepository } from './sessions.repository.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

interface Logout {
  caller: UserPrincipal | undefined;
  refreshToken: string | undefined;
}

/** Ends sessions for their user. */
@Injectable()
export class SessionEndingService {
  constructor(
    private readonly refreshTokens: RefreshTokens,
    private readonly sessions: SessionsRepository,
    private readonly ofUsers: UserSessionsRepository,
    private readonly opening: SessionOpening,
    private readonly users: UserChangesRepository,
    private readonly revocation: SessionRevocation,
    private readonly ended: EndedSessions,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** Succeeds for a session that has ended already. */
  async logOut({ caller, refreshToken }: Logout, origin: Origin): Promise<void> {
    const session = refreshToken === undefined ? ofCaller(caller) : await this.ofRefreshToken(refreshToken);
    if (!session) return;
    const { id, userId } = session;
    const actor = { kind: 'user', id: userId, sessionId: id, isDelegated: false, ...origin } as const;
    await this.revocation.revoke({ id, userId }, { actor, reason: 'logout' });
  }

  async endOne(actor: UserActor, id: string): Promise<void> {
    const session = await this.ofUsers.findAlive(actor.id, id);
    if (!session) throw new SessionNotFoundError();
    await this.revocation.revoke(session, { actor, reason: 'revoked' });
  }

  /** @throws InvalidTokenError when the acting session has ended meanwhile */
  async endAll(actor: UserActor, { exceptActing }: { exceptActing: boolean }): Promise<void> {
    const end = { reason: 'revoked', except: exceptActing ? actor.sessionId : undefined } as const;
    await this.transactions.run(
      async (transaction) => {
        const epoch = await this.users.endSessions(transaction, actor.id);
        if (epoch === undefined) throw new InvalidTokenError('user_gone');
        if (exceptActing) await this.opening.keep(transaction, actor);
        const event = allSessionsEnded({ actor, userId: actor.id }, end, epoch);
        await this.events.record(transaction, event);
      },
      { principal: actor.id, row: actor.id },
    );
    this.ended.note(actor.id);
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
