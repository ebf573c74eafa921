import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { beginsLikeApiKey } from '../api-keys/api-key-format.js';
import { type LiveKey, LiveKeys } from '../api-keys/live-keys.js';
import type { Principal, ServicePrincipal, UserPrincipal } from '../access/principal.js';
import { Env } from '../config/env.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import {
  type AccessTokenClaims,
  InvalidTokenError,
  type RefusedToken,
  refused,
  UnauthorizedError,
} from './tokens/access-token.js';
import { areServiceTokenClaims, type ServiceTokenClaims, wayOf } from './tokens/ways.js';
import { bearerToken, hasOtherScheme, JwtStrategy, soleAuthorization } from './tokens/jwt.strategy.js';
import {
  type Access,
  boundToken,
  invalidClient,
  requireAccess,
  RouteAccess,
  takesBoundTokens,
} from '../access/route-access.js';
import { ServiceCallsRepository, stateOfWay } from '../services/service-calls.repository.js';
import { ServiceCredentials, showsSecret } from '../services/service-credentials.js';

export interface LiveToken {
  kind: 'live';
  claims: AccessTokenClaims;
  user: UserPrincipal;
}

/** It has no user, so only introspection accepts it. */
interface LiveServiceToken {
  kind: 'live_service';
  claims: ServiceTokenClaims;
}

/** Introspection accepts an access token exactly if a request with it is authenticated. */
@Injectable()
export class LiveTokens {
  constructor(
    private readonly strategy: JwtStrategy,
    private readonly sessions: SessionsRepository,
    private readonly calls: ServiceCallsRepository,
    private readonly keys: LiveKeys,
    private readonly env: Env,
  ) {}

  async find(
    token: string,
    isAskedFor: (claims: { aud: string }) => boolean = () => true,
  ): Promise<LiveToken | LiveServiceToken | LiveKey | RefusedToken> {
    if (beginsLikeApiKey(token)) return this.keys.find(token, isAskedFor);
    const verified = await this.strategy.verify(token);
    if (verified.kind === 'refused') return verified;
    const { claims } = verified;
    if (!isAskedFor(claims)) return refused('claims');
    if ('key' in claims) return this.keys.findOfToken(claims);
    if (!areServiceTokenClaims(claims)) return this.findOfUser(claims);
    const isLive = await this.isInState([claims.client_id, claims.aud], claims.via_epoch);
    return isLive ? { kind: 'live_service', claims } : refused('call_ended');
  }

  private async findOfUser(claims: AccessTokenClaims): Promise<LiveToken | RefusedToken> {
    const { sid, gen, act, aud } = claims;
    const user = await this.sessions.findPrincipal(sid, Number.isSafeInteger(gen) ? gen : undefined);
    if (user?.id !== claims.sub) return refused('session_ended');
    const via = wayOf(act)!;
    // The session is bound to the first service of the way, which is the audience of a token without `act`.
    if ((via[0] ?? aud) !== (user.audience ?? this.env.jwtAudience)) return refused('claims');
    if (via.length === 0) return { kind: 'live', claims, user };
    if (!(await this.isInState([...via, aud], claims.via_epoch))) return refused('call_ended');
    return { kind: 'live', claims, user: { ...user, audience: aud, via } };
  }

  private async isInState(way: readonly string[], epoch: number | undefined): Promise<boolean> {
    const state = stateOfWay(await this.calls.findStates(way));
    return state !== undefined && state === epoch;
  }
}

@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: LiveTokens,
    private readonly credentials: ServiceCredentials,
    private readonly env: Env,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.get(RouteAccess, context.getHandler());
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!letsInNobody(access, request)) request.principal = await this.findPrincipal(access, request);
    requireAccess(access, request, this.env);
    return true;
  }

  /** A route without a declaration authenticates a user, whom `requireAccess` then rejects. */
  private findPrincipal(access: Access | undefined, request: FastifyRequest): Promise<Principal> {
    const isForServices = access?.to === 'services' || access?.to === 'everyone';
    return isForServices ? this.findService(request) : this.findUser(access, request);
  }

  private async findService(request: FastifyRequest): Promise<ServicePrincipal> {
    const service = await this.credentials.authenticate(soleAuthorization(request));
    if (!service) throw invalidClient();
    return service;
  }

  private async findUser(access: Access | undefined, request: FastifyRequest): Promise<UserPrincipal> {
    if (request.headers.authorization === undefined) throw new UnauthorizedError();
    if (hasOtherScheme(request)) throw new InvalidTokenError('scheme');
    const token = bearerToken(request);
    const found = token === undefined ? refused('malformed') : await this.tokens.find(token);
    if (found.kind !== 'live')
      throw new InvalidTokenError(found.kind === 'refused' ? found.reason : 'claims');
    if (found.user.audience !== null && !takesBoundTokens(access)) throw boundToken();
    return found.user;
  }
}

function letsInNobody(access: Access | undefined, request: FastifyRequest): boolean {
  const { body } = request;
  if (access?.to === 'everyone') return access.or !== 'service' || !showsSecret(soleAuthorization(request));
  if (access?.to !== 'signed-in' || access.or !== 'refresh-token') return false;
  return typeof body === 'object' && body !== null && 'refreshToken' in body;
}
