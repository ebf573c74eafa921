import type { IncomingMessage } from 'node:http';
import { JsonWebTokenError, TokenExpiredError } from '@nestjs/jwt';
import { callbackify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-jwt';
import type { TokenRefusal } from './tokens.errors.js';
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

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

type Presented = { headers: object; raw?: IncomingMessage } | { askedAbout: string };

/** Reads no other place (RFC 6750 section 2.1). */
export function bearerToken(request: { headers: object; raw?: IncomingMessage }): string | null {
  const authorization = soleAuthorization(request);
  return (authorization !== undefined && BEARER.exec(authorization)?.[1]) || null;
}

function presentedToken(presented: Presented): string | null {
  if (!('askedAbout' in presented)) return bearerToken(presented);
  return TOKEN.test(presented.askedAbout) ? presented.askedAbout : null;
}

/** Returns undefined for two headers: a proxy may have read the other one. */
export function soleAuthorization({ raw }: { raw?: IncomingMessage }): string | undefined {
  return raw?.headersDistinct['authorization']?.length === 1 ? raw.headers.authorization : undefined;
}

class UnknownKeyError extends Error {}

/** @param failure what Passport reports; nothing where the claims were refused */
export function tokenRefusal(failure: unknown): TokenRefusal {
  if (failure instanceof UnknownKeyError) return 'unknown_key';
  if (failure instanceof TokenExpiredError) return 'expired';
  if (failure instanceof JsonWebTokenError)
    return failure.message === 'invalid signature' ? 'signature' : 'claims';
  return failure instanceof Error ? 'malformed' : 'claims';
}

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, 'jwt') {
  constructor(
    private readonly keys: KeyRing,
    private readonly env: Env,
    private readonly verified: VerifiedTokens,
    keyFile: KeyFileWatch,
  ) {
    const findUnknown = callbackify(async (kid: string) => {
      await keyFile.lookForUnknownKey();
      const found = keys.findVerifying(kid);
      if (found === undefined) throw new UnknownKeyError();
      return found;
    });
    super({
      jwtFromRequest: presentedToken,
      secretOrKeyProvider: (_request, token: string, done) => {
        const kid = readKeyId(token);
        if (kid === undefined) return done(new Error('not a token of this service'));
        const known = keys.findVerifying(kid);
        if (known !== undefined) return done(null, known);
        findUnknown(kid, done);
      },
      algorithms: ['ES256'],
      issuer: env.jwtIssuer,
      jsonWebTokenOptions: { clockTolerance: LEEWAY_SECONDS },
      passReqToCallback: true,
    });
  }

  validate(presented: Presented, payload: unknown): AccessTokenClaims | false {
    const { jwtAudience: audience, sessionMaxAge } = this.env;
    if (!areAccessTokenClaims(payload, { audience, sessionMaxAge })) return false;
    const token = presentedToken(presented);
    // The key may have been removed while Accounts verified the token.
    if (token === null || this.keys.findVerifying(readKeyId(token) ?? '') === undefined) return false;
    this.verified.remember(token, payload);
    return payload;
  }

  /** Verifies the token of an introspection by the same steps as the token of a request. */
  verify(askedAbout: string): Promise<AccessTokenClaims | undefined> {
    return new Promise((resolve, reject) => {
      const run = Object.create(this) as JwtStrategy;
      run.success = resolve;
      run.fail = () => resolve(undefined);
      run.error = reject;
      run.authenticate({ askedAbout } as Presented as Parameters<JwtStrategy['authenticate']>[0]);
    });
  }
}
