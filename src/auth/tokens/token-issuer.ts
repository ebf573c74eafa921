import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Env } from '../../config/env.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import type { NewSession } from '../sessions/new-session.js';
import { type AccessTokenClaims, TOKEN_TYPE } from './access-token.js';
import { KeyRing } from './key-ring.js';

@Injectable()
export class TokenIssuer {
  constructor(
    private readonly jwt: JwtService,
    private readonly keys: KeyRing,
    private readonly env: Env,
  ) {}

  /** Only for a session that the database has committed. */
  issue(session: NewSession): string {
    const { kid, privateKey } = this.keys.signing;
    const claims: AccessTokenClaims = {
      iss: this.env.jwtIssuer,
      aud: this.env.jwtAudience,
      sub: session.userId,
      sid: session.id,
      jti: newEntityId(),
      iat: Math.floor(session.createdAt / 1000),
      exp: Math.floor(session.expiresAt / 1000),
      auth_time: Math.floor(session.authTime / 1000),
    };
    return this.jwt.sign(claims, {
      privateKey,
      algorithm: 'ES256',
      header: { alg: 'ES256', typ: TOKEN_TYPE, kid },
    });
  }
}
