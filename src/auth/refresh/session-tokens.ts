import { Injectable } from '@nestjs/common';
import { type IssuingSession, TokenIssuer } from '../tokens/token-issuer.js';
import { RefreshTokens } from './refresh-tokens.js';

export interface RefreshableTokens {
  token: string;
  expiresAt: string;
  refreshToken: string;
}

@Injectable()
export class SessionTokens {
  constructor(
    private readonly accessTokens: TokenIssuer,
    private readonly refreshTokens: RefreshTokens,
  ) {}

  of(session: IssuingSession, at: number): { token: string } | RefreshableTokens {
    return session.refreshGeneration > 0
      ? this.refreshable(session, at)
      : { token: this.accessTokens.issue(session, at).token };
  }

  refreshable(session: IssuingSession, at: number): RefreshableTokens {
    const { token, expiresAt } = this.accessTokens.issue(session, at);
    const { id: sessionId, refreshGeneration: generation } = session;
    return {
      token,
      expiresAt: new Date(expiresAt * 1000).toISOString(),
      refreshToken: this.refreshTokens.write({ sessionId, generation }),
    };
  }
}
