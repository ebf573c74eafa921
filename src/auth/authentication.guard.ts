import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
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
import { bearerToken, hasOtherScheme, JwtStrategy, soleAuthorization } from './tokens/jwt.strategy.js';
import {
  type Access,
  boundToken,
  invalidClient,
  requireAccess,
  RouteAccess,
  takesBoundTokens,
} from '../access/route-access.js';
import { ServiceCredentials, showsSecret } from '../services/service-credentials.js';

export interface LiveToken {
  kind: 'live';
  claims: AccessTokenClaims;
  user: UserPrincipal;
}

/** Introspection accepts an access token exactly if a request with it is authenticated. */
@Injectable()
export class LiveTokens {
  constructor(
    private readonly strategy: JwtStrategy,
    private readonly sessions: SessionsRepository,
    private readonly env: Env,
  ) {}

  async find(
    token: string,
    isAskedFor: (claims: AccessTokenClaims) => boolean = () => true,
  ): Promise<LiveToken | RefusedToken> {
    const verified = await this.strategy.verify(token);
    if (verified.kind === 'refused') return verified;
    const { claims } = verified;
    if (!isAskedFor(claims)) return refused('claims');
    const { sid, gen } = claims;
    const user = await this.sessions.findPrincipal(sid, Number.isSafeInteger(gen) ? gen : undefined);
    if (user?.id !== claims.sub) return refused('session_ended');
    const isForUser = claims.aud === (user.audience ?? this.env.jwtAudience);
    return isForUser ? { kind: 'live', claims, user } : refused('claims');
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
    if (found.kind === 'refused') throw new InvalidTokenError(found.reason);
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
