import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { JsonWebTokenError, JwtService, TokenExpiredError } from '@nestjs/jwt';
import { Env } from '../../config/env.js';
import {
  type AccessTokenClaims,
  areAccessTokenClaims,
  LEEWAY_SECONDS,
  readKeyId,
  VerifiedTokens,
} from './access-token.js';
import { KeyFileWatch } from './key-file-watch.js';
import { KeyRing } from './signing-keys.js';
import type { TokenRefusal } from './tokens.errors.js';

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export interface RefusedToken {
  kind: 'refused';
  reason: TokenRefusal;
}

type Verification = { kind: 'verified'; claims: AccessTokenClaims } | RefusedToken;

/** Reads no other place (RFC 6750 section 2.1). */
export function bearerToken(request: { raw?: IncomingMessage }): string | undefined {
  const authorization = soleAuthorization(request);
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

/** Returns undefined for two headers: a proxy may have read the other one. */
export function soleAuthorization({ raw }: { raw?: IncomingMessage }): string | undefined {
  return raw?.headersDistinct['authorization']?.length === 1 ? raw.headers.authorization : undefined;
}

/** Verifies what a token says. Whether its session is alive is for the caller to look up. */
@Injectable()
export class TokenVerifier {
  constructor(
    private readonly jwt: JwtService,
    private readonly keys: KeyRing,
    private readonly keyFile: KeyFileWatch,
    private readonly verified: VerifiedTokens,
    private readonly env: Env,
  ) {}

  async verify(token: string): Promise<Verification> {
    const known = this.verified.find(token);
    if (known) return { kind: 'verified', claims: known };
    const kid = TOKEN.test(token) ? readKeyId(token) : undefined;
    if (kid === undefined) return refused('malformed');
    if (this.keys.findVerifying(kid) === undefined) await this.keyFile.lookForUnknownKey();
    const publicKey = this.keys.findVerifying(kid);
    return publicKey === undefined ? refused('unknown_key') : this.verifyWith(publicKey, token);
  }

  /** Waits for nothing: a key that was taken away meanwhile would otherwise be remembered as good. */
  private verifyWith(publicKey: string, token: string): Verification {
    const { jwtIssuer: issuer, jwtAudience: audience, sessionMaxAge } = this.env;
    const options = { publicKey, algorithms: ['ES256' as const], issuer, clockTolerance: LEEWAY_SECONDS };
    let payload: unknown;
    try {
      payload = this.jwt.verify<object>(token, options);
    } catch (error) {
      return refused(reasonOf(error));
    }
    if (!areAccessTokenClaims(payload, { audience, sessionMaxAge })) return refused('claims');
    this.verified.remember(token, payload);
    return { kind: 'verified', claims: payload };
  }
}

function refused(reason: TokenRefusal): RefusedToken {
  return { kind: 'refused', reason };
}

function reasonOf(error: unknown): TokenRefusal {
  if (error instanceof TokenExpiredError) return 'expired';
  if (!(error instanceof JsonWebTokenError)) return 'malformed';
  return error.message === 'invalid signature' ? 'signature' : 'claims';
}
