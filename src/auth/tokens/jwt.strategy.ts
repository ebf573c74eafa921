import { JsonWebTokenError, TokenExpiredError } from '@nestjs/jwt';
import { callbackify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-jwt';
import {
  areAccessTokenClaims,
  type KnownClaims,
  LEEWAY_SECONDS,
  readKeyId,
  type RefusedToken,
  refused,
  type TokenRefusal,
  type VerifiedToken,
  VerifiedTokens,
} from './access-token.js';
import { Env } from '../../config/env.js';
import { KeyFileWatch } from './key-file-watch.js';
import { KeyRing } from './signing-keys.js';

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const BEARER_SCHEME = /^Bearer(?: |$)/i;
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const AUTHORIZATION = 'authorization';

/** RFC 6750 section 2.1; Accounts accepts it nowhere else. */
export function bearerToken(request: FastifyRequest): string | undefined {
  const authorization = soleAuthorization(request);
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

/** A token without a scheme and the credentials of a service are not expired tokens. */
export function hasOtherScheme(request: FastifyRequest): boolean {
  const authorization = soleAuthorization(request);
  return authorization !== undefined && !BEARER_SCHEME.test(authorization);
}

/** Returns undefined for two headers, because a proxy may have read the other one. */
export function soleAuthorization({ raw }: Pick<FastifyRequest, 'raw'>): string | undefined {
  const { length } = raw.rawHeaders.filter(isAuthorization);
  return length === 1 ? raw.headers.authorization : undefined;
}

/**
 * Names have even indexes. Compares lengths first, because every request pays for each header.
 *
 * @floor `GET /api/me` 1.0: not measured without
 */
function isAuthorization(name: string, index: number): boolean {
  return index % 2 === 0 && name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION;
}

class UnknownKeyError extends Error {}

function refusalOf(failure: unknown): TokenRefusal {
  if (failure instanceof UnknownKeyError) return 'unknown_key';
  if (failure instanceof TokenExpiredError) return 'expired';
  if (failure instanceof JsonWebTokenError)
    return failure.message === 'invalid signature' ? 'signature' : 'claims';
  return failure instanceof Error ? 'malformed' : 'claims';
}

type Presented = { headers?: object; token?: string };

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, 'jwt') {
  constructor(
    private readonly keys: KeyRing,
    private readonly env: Env,
    private readonly verified: VerifiedTokens,
    keyFile: KeyFileWatch,
  ) {
    const findKey = async (_presented: Presented, token: string): Promise<string> => {
      const kid = readKeyId(token);
      if (kid === undefined) throw new Error('not a token of this service');
      if (keys.findVerifying(kid) === undefined) await keyFile.reloadForUnknownKey();
      const key = keys.findVerifying(kid);
      if (key === undefined) throw new UnknownKeyError();
      return key;
    };
    super({
      jwtFromRequest: ({ token = '' }: Presented) => (TOKEN.test(token) ? token : null),
      secretOrKeyProvider: callbackify(findKey),
      algorithms: ['ES256'],
      issuer: env.jwtIssuer,
      jsonWebTokenOptions: { clockTolerance: LEEWAY_SECONDS },
      passReqToCallback: true,
    });
  }

  validate({ token = '' }: Presented, payload: unknown): KnownClaims | false {
    const { jwtAudience: audience, sessionMaxAge } = this.env;
    if (!areAccessTokenClaims(payload, { audience, sessionMaxAge })) return false;
    // The key may have been removed while Accounts verified the token.
    if (this.keys.findVerifying(readKeyId(token) ?? '') === undefined) return false;
    this.verified.remember(token, payload);
    return payload;
  }

  async verify(token: string): Promise<VerifiedToken | RefusedToken> {
    const known = this.verified.find(token);
    if (known) return { kind: 'verified', claims: known };
    return new Promise((resolve, reject) => {
      const run = Object.create(this) as JwtStrategy;
      run.success = (claims: KnownClaims) => resolve({ kind: 'verified', claims });
      run.fail = (failure: unknown) => resolve(refused(refusalOf(failure)));
      run.error = reject;
      run.authenticate({ token } as Presented as Parameters<JwtStrategy['authenticate']>[0]);
    });
  }
}
