import { Injectable } from '@nestjs/common';
import { tokenUser } from '../tokens/signed-in-user.js';
import { type IssuingSession, TokenIssuer } from '../tokens/token-issuer.js';
import { RefreshTokens } from './refresh-tokens.js';

interface Tokens {
  token: string;
  [tokenUser]: string;
}

export interface RefreshableTokens extends Tokens {
  expiresAt: string;
  refreshToken: string;
}

@Injectable()
export class SessionTokens {
  constructor(
    private readonly accessTokens: TokenIssuer,
    private readonly refreshTokens: RefreshTokens,
  ) {}

  of(session: IssuingSession, at: number): Tokens | RefreshableTokens {
    return session.refreshGeneration > 0
      ? this.refreshable(session, at)
      : { token: this.accessTokens.issue(session, at).token, [tokenUser]: session.userId };
  }

  refreshable(session: IssuingSession, at: number): RefreshableTokens {
    const { token, expiresAt } = this.accessTokens.issue(session, at);
    const { id: sessionId, refreshGeneration: generation } = session;
    return {
      token,
      expiresAt: new Date(expiresAt * 1000).toISOString(),
      refreshToken: this.refreshTokens.write({ sessionId, generation }),
      [tokenUser]: session.userId,
    };
  }
}
