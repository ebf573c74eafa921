import { Injectable } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { Env } from '../config/env.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import type { AccessTokenClaims } from './tokens/access-token.js';
import { type RefusedToken, TokenVerifier } from './tokens/token-verifier.js';

export interface LiveToken {
  kind: 'live';
  claims: AccessTokenClaims;
  holder: UserPrincipal;
}

/** Checks whether an access token is valid now, for requests and for introspection alike. */
@Injectable()
export class LiveTokens {
  constructor(
    private readonly tokens: TokenVerifier,
    private readonly sessions: SessionsRepository,
    private readonly env: Env,
  ) {}

  /** @param isAskedFor by its claims; spares what it refuses the lookup of the session */
  async find(
    token: string,
    isAskedFor: (claims: AccessTokenClaims) => boolean = () => true,
  ): Promise<LiveToken | RefusedToken> {
    const verified = await this.tokens.verify(token);
    if (verified.kind === 'refused') return verified;
    const { claims } = verified;
    if (!isAskedFor(claims)) return { kind: 'refused', reason: 'claims' };
    const holder = await this.sessions.findPrincipal(claims.sid);
    if (holder?.id !== claims.sub) return { kind: 'refused', reason: 'session_ended' };
    if (claims.aud !== (holder.audience ?? this.env.jwtAudience))
      return { kind: 'refused', reason: 'claims' };
    return { kind: 'live', claims, holder };
  }
}
