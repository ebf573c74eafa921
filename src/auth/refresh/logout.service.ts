import { Injectable } from '@nestjs/common';
import type { Origin } from '../../access/actor.js';
import type { UserPrincipal } from '../../access/principal.js';
import { OK, type OkResult } from '../../http/ok.responses.js';
import type { RevocableSession } from '../sessions/pending-revocation.entity.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { UnauthorizedError } from '../tokens/tokens.errors.js';
import { InvalidRefreshTokenError } from './refresh.errors.js';
import { RefreshTokens } from './refresh-tokens.js';

interface Logout {
  caller: UserPrincipal | undefined;
  refreshToken: string | undefined;
}

@Injectable()
export class LogoutService {
  constructor(
    private readonly refreshTokens: RefreshTokens,
    private readonly sessions: SessionsRepository,
    private readonly revocation: SessionRevocation,
  ) {}

  /** Succeeds for a session that has ended already. */
  async end({ caller, refreshToken }: Logout, origin: Origin): Promise<OkResult> {
    const session = refreshToken === undefined ? ofCaller(caller) : await this.ofRefreshToken(refreshToken);
    if (session) {
      const { id, userId } = session;
      const actor = { kind: 'user', id: userId, sessionId: id, isDelegated: false, ...origin } as const;
      await this.revocation.revoke({ id, userId }, { actor, reason: 'logout' });
    }
    return OK;
  }

  /** Accepts any generation: the holder of a token may at least end its session. */
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
