import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { FastifyInstance } from 'fastify';
import type { AuthenticationMethod } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import { type AccessTokenClaims, TOKEN_TYPE } from './access-token.js';
import { KeyRing } from './signing-keys.js';

/** Times are epoch milliseconds. */
export interface IssuingSession {
  id: string;
  userId: string;
  authTime: number;
  amr: readonly AuthenticationMethod[];
  authEpoch: number;
  expiresAt: number;
  refreshGeneration: number;
  /** the one service for which the code was that opened the session */
  audience?: string | null;
}

export interface AccessToken {
  token: string;
  /** epoch seconds */
  expiresAt: number;
}

@Injectable()
export class TokenIssuer {
  constructor(
    private readonly jwt: JwtService,
    private readonly keys: KeyRing,
    private readonly env: Env,
  ) {}

  /** The database must have committed the session. `at` is in epoch milliseconds. */
  issue(session: IssuingSession, at: number): AccessToken {
    const { kid, privateKey } = this.keys.signing;
    const lifetime = session.refreshGeneration > 0 ? this.env.accessTokenTtl : this.env.tokenTtl;
    const iat = Math.floor(at / 1000);
    const authTime = Math.floor(session.authTime / 1000);
    const exp = Math.min(
      iat + lifetime,
      Math.floor(session.expiresAt / 1000),
      // Verification refuses a later end, where the setting was lowered since.
      authTime + this.env.sessionMaxAge,
    );
    const claims: Required<AccessTokenClaims> = {
      iss: this.env.jwtIssuer,
      aud: session.audience ?? this.env.jwtAudience,
      sub: session.userId,
      sid: session.id,
      jti: newEntityId(),
      iat,
      exp,
      auth_time: authTime,
      amr: session.amr,
      epoch: session.authEpoch,
      client_id: session.audience ?? this.env.jwtAudience,
    };
    const header = { alg: 'ES256' as const, typ: TOKEN_TYPE, kid };
    return { token: this.jwt.sign(claims, { privateKey, algorithm: 'ES256', header }), expiresAt: exp };
  }
}

/** Names the user of a token that is given out. A symbol is never part of the answer's JSON. */
export const tokenUser = Symbol('user of the token');

declare module 'fastify' {
  interface FastifyRequest {
    signedInUserId?: string;
  }
}

// Gives the log line of the request the user, since the request came without a token that would say so. It is a hook,
// since an interceptor of Nest keeps a chain of RxJS objects for each request that waits for a hash.
export function noteSignedInUsers(fastify: FastifyInstance): void {
  fastify.decorateRequest('signedInUserId', undefined);
  fastify.addHook('preSerialization', (request, _reply, answer: { [tokenUser]?: string } | null, done) => {
    request.signedInUserId = answer?.[tokenUser];
    done(null, answer);
  });
}
