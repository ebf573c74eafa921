import { callbackify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-jwt';
import { Env } from '../../config/env.js';
import { type AccessTokenClaims, areAccessTokenClaims, LEEWAY_SECONDS, readKeyId } from './access-token.js';
import { type Presented, presentedToken } from './bearer-token.js';
import { KeyFileWatch } from './key-file-watch.js';
import { KeyRing } from './key-ring.js';
import { UnknownKeyError } from './token-refusal.js';
import { VerifiedTokens } from './verified-tokens.js';

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
    // The key may have been taken away while it was in use: then what it signed is refused, and not remembered.
    if (token === null || this.keys.findVerifying(readKeyId(token) ?? '') === undefined) return false;
    this.verified.remember(token, payload);
    return payload;
  }

  /** Takes a token that somebody asks about through the steps of a request's own, as Passport would call them. */
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
