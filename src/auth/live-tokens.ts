import { Injectable } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { Env } from '../config/env.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { type AccessTokenClaims, VerifiedTokens } from './tokens/access-token.js';
import { JwtStrategy } from './tokens/jwt.strategy.js';
import type { TokenRefusal } from './tokens/tokens.errors.js';

export interface LiveToken {
  claims: AccessTokenClaims;
  holder: UserPrincipal;
}

/** Tells whether an access token is valid now. A token that somebody asks about is live exactly if a request with it is let in. */
@Injectable()
export class LiveTokens {
  constructor(
    private readonly verified: VerifiedTokens,
    private readonly strategy: JwtStrategy,
    private readonly sessions: SessionsRepository,
    private readonly env: Env,
  ) {}

  /** @param isAskedFor by its claims; spares what it refuses the lookup of the session */
  async find(
    token: string,
    isAskedFor: (claims: AccessTokenClaims) => boolean,
  ): Promise<LiveToken | undefined> {
    const claims = this.verified.find(token) ?? (await this.strategy.verify(token));
    if (!claims || !isAskedFor(claims)) return undefined;
    const holder = await this.findHolder(claims);
    return typeof holder === 'string' ? undefined : { claims, holder };
  }

  /** Finds the user of verified claims while their session is alive, and is the one that these are of. */
  async findHolder({ sid, sub, aud }: AccessTokenClaims): Promise<UserPrincipal | TokenRefusal> {
    const user = await this.sessions.findPrincipal(sid);
    if (user?.id !== sub) return 'session_ended';
    return aud === (user.audience ?? this.env.jwtAudience) ? user : 'claims';
  }
}
