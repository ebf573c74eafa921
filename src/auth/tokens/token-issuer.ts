import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { FastifyInstance } from 'fastify';
import { newEntityId } from '../../identifiers/entity-id.js';
import { SignedTexts } from './derived-keys.js';
import { KeyFileWatch } from './key-file-watch.js';
import { KeyRing } from './signing-keys.js';
import { Env } from '../../config/env.js';
import {
  type AccessTokenClaims,
  type KnownClaims,
  type LoginMethods,
  methodsIn,
  TOKEN_TYPE,
} from './access-token.js';
import type { KeyTokenClaims, ServiceTokenClaims } from './ways.js';

export interface RefreshToken {
  sessionId: string;
  generation: number;
}

const REFRESH_TOKEN = /^[\da-f-]{36}\.[1-9]\d{0,9}$/;

/** of a token that one service takes to another */
const CALL_TTL_SECONDS = 300;

type Stamped = 'iss' | 'jti' | 'iat' | 'exp';

export const tokenUser = Symbol('user of the token');
export const tokenAudience = Symbol('service that the token is for');

/** Times are epoch milliseconds. */
export interface IssuingSession {
  id: string;
  userId: string;
  authTime: number;
  amr: LoginMethods;
  authEpoch: number;
  expiresAt: number;
  refreshGeneration: number;
  audience?: string | null;
  loginId?: string | null;
  /** the head of the branch; null for the head itself in the answer to its exchange */
  branchId?: string | null;
}

export interface Tokens {
  token: string;
  [tokenUser]: string;
}

export interface RefreshableTokens extends Tokens {
  expiresAt: string;
  refreshToken: string;
}

@Injectable()
export class TokenIssuer {
  private readonly refreshTokens: SignedTexts;

  constructor(
    private readonly jwt: JwtService,
    private readonly keys: KeyRing,
    private readonly env: Env,
    keyFile: KeyFileWatch,
  ) {
    this.refreshTokens = new SignedTexts(keys, keyFile, 'refresh tokens', REFRESH_TOKEN);
  }

  async readRefreshToken(text: string): Promise<RefreshToken | undefined> {
    const [sessionId, generation] = (await this.refreshTokens.read(text)) ?? [];
    return sessionId === undefined ? undefined : { sessionId, generation: Number(generation) };
  }

  /** Call it after COMMIT. `at` is in epoch milliseconds. */
  issue(session: IssuingSession, at: number): Tokens | RefreshableTokens {
    if (session.refreshGeneration > 0) return this.issueRefreshable(session, at);
    return { token: this.sign(session, this.expiryOf(session, at), at), [tokenUser]: session.userId };
  }

  issueRefreshable(session: IssuingSession, at: number): RefreshableTokens {
    const { id, refreshGeneration } = session;
    const exp = this.expiryOf(session, at);
    return {
      token: this.sign(session, exp, at),
      expiresAt: new Date(exp * 1000).toISOString(),
      refreshToken: this.refreshTokens.write(id, refreshGeneration),
      [tokenUser]: session.userId,
    };
  }

  /** Issues a token for a call, which expires with `notAfter` at the latest. Times are epoch seconds. */
  issueForCall(
    claims:
      | Omit<AccessTokenClaims, Stamped>
      | Omit<ServiceTokenClaims, Stamped>
      | Omit<KeyTokenClaims, Stamped>,
    at: number,
    notAfter = Infinity,
  ): { access_token: string; token_type: 'Bearer'; expires_in: number } {
    const exp = Math.min(at + CALL_TTL_SECONDS, notAfter);
    const stamps = { iss: this.env.jwtIssuer, jti: newEntityId(), iat: at, exp };
    return {
      access_token: this.encode({ ...claims, ...stamps }),
      token_type: 'Bearer',
      expires_in: exp - at,
    };
  }

  private expiryOf({ refreshGeneration, expiresAt, authTime }: IssuingSession, at: number): number {
    const lifetime = refreshGeneration > 0 ? this.env.accessTokenTtl : this.env.tokenTtl;
    return Math.min(
      Math.floor(at / 1000) + lifetime,
      Math.floor(expiresAt / 1000),
      // Verification rejects a later expiry if SESSION_MAX_AGE was lowered.
      Math.floor(authTime / 1000) + this.env.sessionMaxAge,
    );
  }

  private sign(session: IssuingSession, exp: number, at: number): string {
    const audience = session.audience ?? this.env.jwtAudience;
    const { id, loginId, branchId } = session;
    return this.encode({
      iss: this.env.jwtIssuer,
      aud: audience,
      sub: session.userId,
      sid: id,
      ...(loginId && { login_sid: loginId }),
      ...(branchId && branchId !== id && { branch_sid: branchId }),
      jti: newEntityId(),
      iat: Math.floor(at / 1000),
      exp,
      auth_time: Math.floor(session.authTime / 1000),
      amr: methodsIn(session.amr),
      epoch: session.authEpoch,
      client_id: audience,
      ...(session.refreshGeneration > 0 && { gen: session.refreshGeneration }),
    });
  }

  private encode(claims: KnownClaims): string {
    const { kid, privateKey } = this.keys.signing;
    const header = { alg: 'ES256' as const, typ: TOKEN_TYPE, kid };
    return this.jwt.sign(claims, { privateKey, algorithm: 'ES256', header });
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    signedInUserId?: string | undefined;
    /** the service that the caller, a service, got a token for */
    calledService?: string | undefined;
  }
}

interface LoggedAnswer {
  [tokenUser]?: string;
  [tokenAudience]?: string;
}

// For the request log. An interceptor would keep RxJS objects for each request that waits for a hash.
export function noteSignedInUsers(fastify: FastifyInstance): void {
  fastify.decorateRequest('signedInUserId', undefined);
  fastify.decorateRequest('calledService', undefined);
  fastify.addHook('preSerialization', (request, _reply, answer: LoggedAnswer | null, done) => {
    request.signedInUserId = answer?.[tokenUser];
    request.calledService = answer?.[tokenAudience];
    done(null, answer);
  });
}
