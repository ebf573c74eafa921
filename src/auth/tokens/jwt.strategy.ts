import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy, type StrategyOptionsWithoutRequest } from 'passport-jwt';
import type { CurrentUser } from '../../access/current-user.decorator.js';
import { Env } from '../../config/env.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { areAccessTokenClaims, LEEWAY_SECONDS, readKeyId } from './access-token.js';
import { bearerToken } from './bearer-token.js';
import { KeyRing } from './key-ring.js';

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, 'jwt') {
  constructor(
    keys: KeyRing,
    private readonly env: Env,
    private readonly sessions: SessionsService,
  ) {
    super({
      jwtFromRequest: bearerToken as unknown as StrategyOptionsWithoutRequest['jwtFromRequest'],
      secretOrKeyProvider: (_request, token: string, done) => {
        const kid = readKeyId(token);
        const key = kid === undefined ? undefined : keys.findVerifying(kid);
        // passport-jwt hands the key on to jsonwebtoken, which takes a KeyObject; its own type says text.
        if (key) done(null, key as unknown as string);
        else done(new Error('no key verifies this token'));
      },
      algorithms: ['ES256'],
      issuer: env.jwtIssuer,
      jsonWebTokenOptions: { clockTolerance: LEEWAY_SECONDS },
    });
  }

  /** An error here, such as a database that is gone, is not a failed login and is passed on as it is. */
  async validate(payload: unknown): Promise<CurrentUser | false> {
    const { jwtAudience: audience, sessionMaxAge } = this.env;
    if (!areAccessTokenClaims(payload, { audience, sessionMaxAge })) return false;
    return (await this.sessions.findCaller(payload.sid, payload.sub)) ?? false;
  }
}
