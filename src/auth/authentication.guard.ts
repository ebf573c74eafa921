import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import type { Principal, ServicePrincipal, UserPrincipal } from '../access/principal.js';
import { Env } from '../config/env.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { type AccessTokenClaims, VerifiedTokens } from './tokens/access-token.js';
import { bearerToken, JwtStrategy, soleAuthorization, tokenRefusal } from './tokens/jwt.strategy.js';
import { InvalidTokenError, type TokenRefusal, UnauthorizedError } from './tokens/tokens.errors.js';
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
  claims: AccessTokenClaims;
  holder: UserPrincipal;
}

@Injectable()
export class LiveTokens {
  constructor(
    private readonly verified: VerifiedTokens,
    private readonly strategy: JwtStrategy,
    private readonly sessions: SessionsRepository,
    private readonly env: Env,
  ) {}

  /** @param isAskedFor by its claims; spares what it refuses the lookup of the session */
  async find(
    token: string,
    isAskedFor: (claims: AccessTokenClaims) => boolean,
  ): Promise<LiveToken | undefined> {
    const claims = this.verified.find(token) ?? (await this.strategy.verify(token));
    if (!claims || !isAskedFor(claims)) return undefined;
    const holder = await this.findHolder(claims);
    return typeof holder === 'string' ? undefined : { claims, holder };
  }

  async findHolder({ sid, sub, aud }: AccessTokenClaims): Promise<UserPrincipal | TokenRefusal> {
    const user = await this.sessions.findPrincipal(sid);
    if (user?.id !== sub) return 'session_ended';
    return aud === (user.audience ?? this.env.jwtAudience) ? user : 'claims';
  }
}

type SignedRequest = FastifyRequest & { claims?: AccessTokenClaims };

// A user sends a token, a service its credentials. Roles are checked by RolesGuard.
@Injectable()
export class AuthenticationGuard extends AuthGuard('jwt') {
  constructor(
    private readonly reflector: Reflector,
    private readonly verified: VerifiedTokens,
    private readonly live: LiveTokens,
    private readonly credentials: ServiceCredentials,
    private readonly env: Env,
  ) {
    super({ property: 'claims' });
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.get(RouteAccess, context.getHandler());
    const request = context.switchToHttp().getRequest<SignedRequest>();
    if (!letsInNobody(access, request))
      request.principal = await this.findPrincipal(access, request, context);
    requireAccess(access, request, this.env);
    return true;
  }

  override handleRequest<Claims>(
    error: unknown,
    claims: Claims | false,
    info: unknown,
    context: ExecutionContext,
  ): Claims {
    if (error) throw error;
    if (claims) return claims;
    const { authorization } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    throw authorization === undefined ? new UnauthorizedError() : new InvalidTokenError(tokenRefusal(info));
  }

  /** A route that declares nothing asks for a user, and is refused to them. */
  private async findPrincipal(
    access: Access | undefined,
    request: SignedRequest,
    context: ExecutionContext,
  ): Promise<Principal> {
    if (access?.to === 'services' || access?.to === 'everyone') return this.findService(request);
    return this.findUser(await this.findClaims(request, context), access);
  }

  private async findService(request: SignedRequest): Promise<ServicePrincipal> {
    const service = await this.credentials.authenticate(soleAuthorization(request));
    if (!service) throw invalidClient();
    return service;
  }

  private async findClaims(request: SignedRequest, context: ExecutionContext): Promise<AccessTokenClaims> {
    const token = bearerToken(request);
    const known = token === null ? undefined : this.verified.find(token);
    if (known) return known;
    await super.canActivate(context);
    if (!request.claims) throw new InvalidTokenError('claims');
    return request.claims;
  }

  private async findUser(claims: AccessTokenClaims, access: Access | undefined): Promise<UserPrincipal> {
    const user = await this.live.findHolder(claims);
    if (typeof user === 'string') throw new InvalidTokenError(user);
    if (user.audience !== null && !takesBoundTokens(access)) throw boundToken();
    return user;
  }
}

/** A client that logs out with a refresh token may send any access token beside it. */
function letsInNobody(access: Access | undefined, request: FastifyRequest): boolean {
  const { body } = request;
  if (access?.to === 'everyone') return access.or !== 'service' || !showsSecret(soleAuthorization(request));
  if (access?.to !== 'signed-in' || access.or !== 'refresh-token') return false;
  return typeof body === 'object' && body !== null && 'refreshToken' in body;
}
